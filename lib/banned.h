// Functions this project does not call, made into compile errors. The build includes this file
// before every source file of the program.
//
// Three reasons: a call is too easy to get wrong, it drags the host's shared libraries or locale
// into a statically linked program, or it differs between C libraries (lib/exec.h).
#ifndef TERSE_LIB_BANNED_H
#define TERSE_LIB_BANNED_H

#include <grp.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok
#pragma GCC poison atoi atol atoll localtime gmtime ctime asctime mktemp tmpnam
#pragma GCC poison getpwnam getpwuid getpwent getgrnam getgrgid getgrent
#pragma GCC poison getaddrinfo gethostbyname iconv_open wcwidth wcswidth setlocale
#pragma GCC poison execlp execvp execvpe

#endif
