// A preloaded library with nothing in it: what the bench row `shim` is measured against.

extern int bench_empty;
int bench_empty;
