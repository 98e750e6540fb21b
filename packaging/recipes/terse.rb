class Terse < Formula
  desc "Shows agents why a command ended as it did, and keeps the whole output"
  homepage "@RELEASES@"
  version "@VERSION@"
  license all_of: ["MIT", "BSD-3-Clause"]

  on_linux do
    on_intel do
      url "@RELEASES@/terse-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SHA256_x86_64@"
    end
    on_arm do
      url "@RELEASES@/terse-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SHA256_aarch64@"
    end
  end

  depends_on :linux

  def install
    prefix.install "bin", "lib", "share"
  end

  test do
    assert_match "terse #{version} ", shell_output("#{bin}/terse version")
  end
end
