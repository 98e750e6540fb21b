{
  description = "terse shows agents why a command ended as it did, and keeps the whole output";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      version = "@VERSION@";
      systems = {
        x86_64-linux = {
          arch = "x86_64";
          sha256 = "@SHA256_x86_64@";
        };
        aarch64-linux = {
          arch = "aarch64";
          sha256 = "@SHA256_aarch64@";
        };
      };
      package =
        system:
        { arch, sha256 }:
        nixpkgs.legacyPackages.${system}.stdenvNoCC.mkDerivation {
          pname = "terse";
          inherit version;
          src = nixpkgs.legacyPackages.${system}.fetchurl {
            url = "@RELEASES@/terse-${version}-linux-${arch}.tar.gz";
            inherit sha256;
          };
          dontBuild = true;
          dontStrip = true;
          installPhase = ''
            mkdir -p $out
            cp -a bin lib share $out
          '';
          meta = {
            homepage = "@RELEASES@";
            license = with nixpkgs.lib.licenses; [ mit bsd3 ];
            mainProgram = "terse";
            platforms = builtins.attrNames systems;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: about: { default = package system about; }) systems;
    };
}
