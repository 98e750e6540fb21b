#!/usr/bin/env python3
"""fuzz.py --render PROGRAM --xterm DIR [--count N] [--seed S]: compares the results of the renderer and
xterm.js for random streams: plausible sequences, and mutations of the captures. Prints each difference,
reduced to the bytes that show it; exits non-zero if there is one. With --store FILE the streams and answers
are written there, for tests/terminal/run."""
import argparse, glob, json, os, random, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WIDE = ['\U0001f3fd', '\U0001f468', '\U0001f469\u200d\U0001f4bb', '\u65e5', '\u672c', '\u8a9e', '\uff21', '\U0001f600', '\U0001f680', '\u2705', '\uac00']
OTHER = ['\u00e9', '\u2500', '\u2502', '\u2588', '\u03c0', '\u20ac', '\u00a0', '\u2192']
# A run that ends on the alternate screen without other text has its picture as text.
LEAVE = b'\x1b[?47l'
# Sequences of xterm that xterm.js ignores; they do not change the text here, either.
RARE = ['\x1b[?69h', '\x1b[5;10s', '\x1b[?7s', '\x1b[?7r', '\x1b[?3h', '\x1b[?3l', '\x1b[?95h', '\x1b[?5W', '\x1b[2;2;4;4$z',
        '\x1b[65;1;1;2;5$x', '\x1b[1;1;2;9;1;3;1;1$v', '\x1b[1;1;2;2;7$r', '\x1b[1;2;3;4;5T', '\x1b[>2T', '\x1b[?1;1;0S',
        '\x1b[8;24;80t', '\x1b[22;0;0t', '\x1b[23t', '\x1b[>4;2m', '\x1b[>1u', '\x1b[=1;1u', '\x1b[?u', '\x1b[>0q', '\x1b[2 q',
        '\x1b[4i', '\x1b[?5i', '\x1b[3J', '\x1b[22J', '\x1b[4K', '\x1b[;3H', '\x1b[2;H', '\x1b[;;H', '\x1b[2:3H', '\x1b[0002;0003H',
        '\x1b[-1A', '\x1b[1;1', '\x1b[2 S', '\x1b[2^', '\x1b[!q', '\x1b[?2026h', '\x1b[?2026l', '\x1b[?1047;1048h',
        '\x1b[?7;25l\x1b[?7h', '\x1b#3', '\x1b#6', '\x1bN', '\x1bO', '\x1bV', '\x1bW', '\x1bZ', '\x1b6', '\x1b9', '\x1bl', '\x1bm',
        '\x1b F', '\x1b G', '\x1b%8', '\x1b/A', '\x1b-A', '\x1b.A', '\x1b(B', '\x1b(%5', '\x1b[?1$p', '\x1b[c', '\x1b[6n', '\x1b[?6n',
        '\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\', '\x1bP$qm\x1b\\', '\x1bP1;2|17/1b\x1b\\', '\x1b]1337;File=inline=1:QUJD\x07',
        '\x1b]8;id=1;http://x\x07y\x1b]8;;\x07', '\x1b]52;c;?\x07', '\x1b]10;?\x1b\\', '\x1b]4;1;rgb:1/2/3\x07', '\x1b]\x18', '\x1bP\x1a',
        '\x1b_Ga=q;\x1b\\', '\x1bX\x1b\\', '\x1b[\x7f2C', '\x1b[1\x1b[1C', '\x1b\x1b[A', '\u009b3C', '\u008d', '\u0084', '\u0090q\u009c']
MARKS = ['\u0301', '\u0308', '\u200d', '\ufe0f', '\u20e3']


def word(rng, cols, wide):
    kind = rng.random() if wide else 0
    n = rng.choice([1, 2, 3, 5, 8, cols - 1, cols, cols + 1, 2 * cols + 1]) if rng.random() < .3 else rng.randint(1, 9)
    n = max(1, n)
    if kind < .65:
        return ''.join(rng.choice('abcdefghijklmnopqrstuvwxyz    ABC#@[\\]~0123') for _ in range(n))
    if kind < .75:
        return ' ' * n
    out = ''
    for _ in range(n):
        out += rng.choice(rng.choice([WIDE, OTHER, 'abc xyz']))
        while rng.random() < .2:
            out += rng.choice(MARKS)
    return out


def number(rng, limit):
    r = rng.random()
    if r < .2:
        return ''
    if r < .95:
        return str(rng.randint(0, limit + 2))
    return str(rng.choice([99, 1000, 65535]))


def sequence(rng, cols, rows):
    def n():
        return number(rng, max(cols, rows))

    def csi(final, *params):
        return '\x1b[' + ';'.join(params) + final
    table = [
        (12, lambda: csi(rng.choice('ABCDEFG`aed'), n())),
        (6, lambda: csi(rng.choice('Hf'), number(rng, rows), number(rng, cols))),
        (4, lambda: csi('H')),
        (8, lambda: '\x1b[' + rng.choice(['', '', '', '?']) + rng.choice(['', '0', '1', '2']) + rng.choice('JK')),
        (6, lambda: csi(rng.choice('LMP@X'), number(rng, 4))),
        (2, lambda: csi(rng.choice('ST'), number(rng, 3))),
        (1, lambda: csi(rng.choice([' @', ' A', "'}", "'~"]), number(rng, 3))),
        (4, lambda: csi('r', number(rng, rows), number(rng, rows))),
        (2, lambda: csi('r')),
        (1, lambda: '\x1b[?6' + rng.choice('hl')),
        (2, lambda: '\x1b[?7' + rng.choice('hhl')),
        (1, lambda: '\x1b[?45' + rng.choice('hl')),
        (2, lambda: '\x1b[4' + rng.choice('hll')),
        (1, lambda: '\x1b[20' + rng.choice('hl')),
        (4, lambda: '\x1b' + rng.choice('7878DEMMMHn|}~o=>')),
        (2, lambda: csi(rng.choice('su'))),
        (2, lambda: '\x1b[?' + rng.choice(['47', '1047', '1048', '1049', '1049']) + rng.choice('hll')),
        (1, lambda: '\x1b[?' + rng.choice(['25', '2004', '2026', '1', '1000', '5']) + rng.choice('hl')),
        (1, lambda: csi('b', number(rng, 2 * cols))),
        (1, lambda: '\x1b[' + rng.choice(['', '0', '1', '2']) + '"q'),
        (1, lambda: csi('g', rng.choice(['', '0', '3']))),
        (2, lambda: csi(rng.choice('IZ'), number(rng, 3))),
        (2, lambda: '\x1b(' + rng.choice('0BBBAK') ),
        (1, lambda: '\x1b' + rng.choice(')*+') + rng.choice('0B')),
        (1, lambda: rng.choice('\x0e\x0f\x0f')),
        (1, lambda: rng.choice(['\x1b#8', '\x1b[!p', '\x1bc', '\x1b[3J', '\x1b%G', '\x1b\\'])),
        (1, lambda: rng.choice(['\u0084', '\u0085', '\u0088', '\u009bK', '\u009b2A', '\u0090q#1\u009c', '\u009dx\u009c'])),
        (2, lambda: rng.choice(['\x1b]0;t\x07', '\x1b]8;;http://x/\x1b\\', '\x1b]133;A\x07', '\x1bPq~~~\x1b\\',
                                '\x1b_Gi=1;AAA\x1b\\', '\x1b]1337;File=inline=1:AAA\x07', '\x1b^pm\x1b\\', '\x1b]2;\u00e9\x18', '\x1b[12\x18', '\x1b[1\x1a'])),
        (1, lambda: rng.choice(['\x1b[31\nm', '\x1b[\rK', '\x1b[1\x08A', '\x1b[>4;1m', '\x1b[?1;2c', '\x1b[<u', '\x1b[ q'])),
        (2, lambda: rng.choice(RARE)),
        (8, lambda: csi('m', rng.choice(['', '0', '1', '31', '38;5;12', '38:2:1:2:3', '48;2;1;2;3']))),
    ]
    total = sum(w for w, _ in table)
    at = rng.random() * total
    for weight, make in table:
        at -= weight
        if at < 0:
            return make()
    return ''


def ended(data):
    """Every OSC ends before the newline that would end it, which xterm.js takes for a part of it."""
    return re.sub(rb'(\x1b[\0-\x17\x19\x1c-\x1f\x7f]*\][^\x1b\x07\x18\x1a\n]*)(?=\n)', b'\\1\x07', data)


def grammar(rng, cols, rows):
    """Plausible output; some streams mostly lines, some mostly sequences."""
    share = rng.choice([.05, .2, .5, .8])
    out = []
    wide = True
    for _ in range(rng.choice([5, 15, 40, 120])):
        r = rng.random()
        if r < share:
            out.append(sequence(rng, cols, rows))
            # `deviations` lists what xterm.js does with wide characters then.
            wide = wide and out[-1] != '\x1b[?7l' or out[-1] in ('\x1b[?7h', '\x1b[!p', '\x1bc')
        elif r < share + (1 - share) * .5:
            out.append(word(rng, cols, wide))
        else:
            out.append(rng.choice(['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r', '\x08', '\x08\x08', '\t', '\t', '\r\r\n',
                                   '\x0b', '\x0c', '\x07', '\x00', '\x7f']))
    return ended(''.join(out).encode() + LEAVE)


def mutate(rng, data, size):
    """A piece of a capture with some of it moved, doubled, cut out or replaced."""
    start = rng.randrange(max(1, len(data) - size)) if len(data) > size else 0
    piece = bytearray(data[start:start + size])
    for _ in range(rng.randint(1, 8)):
        if not piece:
            break
        a = rng.randrange(len(piece))
        b = min(len(piece), a + rng.randint(1, 40))
        kind = rng.randrange(5)
        if kind == 0:
            del piece[a:b]
        elif kind == 1:
            piece[a:a] = piece[a:b]
        elif kind == 2:
            c = rng.randrange(len(piece))
            piece[c:c] = piece[a:b]
        elif kind == 3:
            piece[a] = rng.choice(b'\r\n\x1b[;0123456789ABHJKmhlr \x08')
        else:
            piece[a:a] = sequence(rng, 80, 24).encode()
    # The rests of cut characters are dropped: invalid bytes are kept by design.
    return ended(bytes(piece).decode('utf-8', 'ignore').encode() + LEAVE)


def norm(data):
    lines = [l.expandtabs(8).rstrip(' \0') for l in data.decode('utf-8', 'replace').split('\n')]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def visible(data):
    return [l for l in norm(data) if l]


class Runner:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder

    def batch(self, command, jobs, env=None):
        text = ''.join('\t'.join(map(str, j)) + '\n' for j in jobs)
        subprocess.run(command, input=text.encode(), check=True, env=env)

    def render(self, jobs, *flags):
        self.batch([self.args.render, '--batch', *flags], jobs)

    def oracle(self, jobs):
        self.batch(['node', os.path.join(HERE, 'oracle.js')], jobs, dict(os.environ, TERSE_XTERM=self.args.xterm))

    def read(self, name):
        with open(os.path.join(self.folder, name), 'rb') as f:
            return f.read()

    def check(self, cases):
        """cases: (data, cols, rows). Returns the indexes that differ, and why."""
        path = lambda i, ext: os.path.join(self.folder, f'{i}.{ext}')
        for i, (data, _, _) in enumerate(cases):
            with open(path(i, 'raw'), 'wb') as f:
                f.write(data)
        jobs = lambda ext: [(path(i, 'raw'), path(i, ext), c, r) for i, (_, c, r) in enumerate(cases)]
        self.render(jobs('text'))
        self.render(jobs('grid'), '--grid')
        self.render(jobs('split'), '--split', str(self.args.seed + 1))
        self.render(jobs('bytes'), '--split', '0', '--grid')
        self.oracle(jobs('oracle'))
        bad = {}
        again = []
        for i in range(len(cases)):
            text = self.read(f'{i}.text')
            for other in 'grid', 'split', 'bytes':
                if self.read(f'{i}.{other}') != text:
                    bad[i] = other
            if norm(text) != norm(self.read(f'{i}.oracle')):
                again.append(i)
        # Tabs of plain lines are kept; they must look right when shown again.
        tabs = [i for i in again if b'\t' in self.read(f'{i}.text')]
        for i in tabs:
            with open(path(i, 'shown'), 'wb') as f:
                f.write(self.read(f'{i}.text').replace(b'\n', b'\r\n'))
        self.oracle([(path(i, 'shown'), path(i, 'again'), cases[i][1], cases[i][2]) for i in tabs])
        for i in again:
            # Blank lines before RIS that had scrolled off already: the oracle trims them.
            if b'\x1bc' in cases[i][0] and visible(self.read(f'{i}.text')) == visible(self.read(f'{i}.oracle')):
                continue
            if i not in tabs or norm(self.read(f'{i}.again')) != norm(self.read(f'{i}.oracle')):
                bad.setdefault(i, 'oracle')
        return bad


def store(runner, cases, name):
    with open(name, 'a') as f:
        for i, (data, cols, rows) in enumerate(cases):
            answer = runner.read(f'{i}.oracle')
            if len(data) < 700 and len(answer) < 2000 and norm(answer) == norm(runner.read(f'{i}.text')):
                f.write(json.dumps({'cols': cols, 'rows': rows, 'stream': data.decode('latin-1'),
                                    'text': answer.decode()}) + '\n')


def reduce(runner, case):
    """Cuts away everything that is not needed to show the difference."""
    data, cols, rows = case
    size = max(1, len(data) // 2)
    while size:
        cuts = [data[:a] + data[a + size:] for a in range(0, len(data) - len(LEAVE), size)]
        cuts = [c for c in cuts if c.endswith(LEAVE)]
        cuts = [c for c in cuts if c.decode('utf-8', 'ignore').encode() == c and ended(c) == c][:200]
        bad = runner.check([(c, cols, rows) for c in cuts]) if cuts else {}
        if bad:
            data = cuts[min(bad)]
            size = min(size, max(1, len(data) // 2))
        else:
            size //= 2
    return data, cols, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--render', required=True)
    parser.add_argument('--xterm', required=True, help='folder with node_modules/@xterm')
    parser.add_argument('--count', type=int, default=20000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--store', help='write streams and answers to this file')
    args = parser.parse_args()

    rng = random.Random(args.seed)
    captures = [open(f, 'rb').read() for f in sorted(glob.glob(os.path.join(HERE, 'captures', '*.raw')))]
    differences = done = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, folder)
        while done < args.count:
            cases = []
            for _ in range(min(500, args.count - done)):
                if captures and rng.random() < .2:
                    cols, rows = rng.choice([(80, 24), (120, 40), (40, 10)])
                    cases.append((mutate(rng, rng.choice(captures), 600 if args.store else 3000), cols, rows))
                else:
                    cols, rows = rng.choice([(rng.randint(2, 20), rng.randint(2, 8)), (80, 24), (40, 5)])
                    cases.append((grammar(rng, cols, rows), cols, rows))
            bad = runner.check(cases)
            done += len(cases)
            if args.store:
                store(runner, cases, args.store)
            for i, why in sorted(bad.items())[:5]:
                data, cols, rows = reduce(runner, cases[i])
                print(f'{why}: {cols}x{rows} {data[:500]!r}')
                runner.check([(data, cols, rows)])
                print('  text  ', runner.read('0.text')[:300])
                print('  oracle', runner.read('0.oracle')[:300], flush=True)
            differences += len(bad)
    print(f'{done} streams, {differences} differences')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
