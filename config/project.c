// See project.h.

#include "config/project.h"

#include "config/complaint.h"
#include "config/ini.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the directory path[0..len) has something of this name; leaves its path in `path`. */
static bool project_has(char *path, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	if (len + name_len + 2 > PATH_MAX)
		return false;
	if (len == 0 || path[len - 1] != '/')
		path[len++] = '/';
	memcpy(path + len, name, name_len + 1);
	return access(path, F_OK) == 0;
}

bool project_find(char *path)
{
	char probe[PATH_MAX];
	size_t len, found = 0;

	if (!getcwd(probe, sizeof(probe)) || *probe != '/')
		return false;
	len = strlen(probe);
	if (project_has(probe, len, PROJECT_FILE)) {
		memcpy(path, probe, strlen(probe) + 1);
		return true;
	}
	for (;;) {
		if (project_has(probe, len, ".git"))
			break;
		if (len <= 1)
			return false;
		while (len > 1 && probe[len - 1] != '/')
			len--;
		while (len > 1 && probe[len - 1] == '/')
			len--;
		if (found == 0 && project_has(probe, len, PROJECT_FILE)) {
			found = len;
			memcpy(path, probe, strlen(probe) + 1);
		}
	}
	return found > 0;
}

static int project_refuse(const char *path, const char *reason, struct option_error *error)
{
	complaint_write(&(struct complaint){.where = path, .reason = reason}, error);
	errno = EINVAL;
	return -1;
}

static int read_trusted(int fd, const char *path, struct buffer *text, struct option_error *error)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return project_refuse(path, "not read: not a plain file", error);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return project_refuse(path, "not read: it belongs to another user", error);
	if (st.st_mode & S_IWOTH)
		return project_refuse(path, "not read: everybody can write to it", error);
	if (ini_read_descriptor(fd, text) == 0)
		return 0;
	return errno == EFBIG ? project_refuse(path, "larger than 1 MB", error) : -1;
}

int project_read(const char *path, struct buffer *text, struct option_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW), result;

	if (fd < 0)
		return errno == ELOOP ? project_refuse(path, "not read: a symbolic link", error)
				      : -1;
	result = read_trusted(fd, path, text, error);
	io_close(&fd);
	return result;
}
