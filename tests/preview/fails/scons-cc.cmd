scons -k
