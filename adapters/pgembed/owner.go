package pgembed

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user that Postgres runs as. Postgres refuses to run as root.
type owner struct {
	uid, gid       int
	name           string
	dropPrivileges bool // this process is root; the child runs as the owner
}

// chooseOwner returns the user who runs the cluster at path, which need not exist. That is the
// current user; for root, the owner of the cluster, or else postgres, or else nobody.
func chooseOwner(path string) (owner, error) {
	uid, gid, exists := -1, -1, false
	if info, err := os.Lstat(path); err == nil {
		stat := info.Sys().(*syscall.Stat_t)
		uid, gid, exists = int(stat.Uid), int(stat.Gid), true
	}
	if current := os.Geteuid(); current != 0 {
		if exists && uid != current {
			return owner{}, fmt.Errorf("%s belongs to user %s: start as that user or as root, or choose another data folder", path, userName(uid))
		}
		return owner{uid: current, gid: os.Getegid(), name: userName(current)}, nil
	}
	if exists && uid != 0 {
		return owner{uid: uid, gid: gid, name: userName(uid), dropPrivileges: true}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if o, err := lookupUser(name); err == nil {
			o.dropPrivileges = true
			return o, nil
		}
	}
	return owner{}, errors.New("postgres cannot run as root, and this machine has no user named postgres or nobody: start as another user")
}

func lookupUser(name string) (owner, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return owner{}, err
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	if err := errors.Join(errUID, errGID); err != nil {
		return owner{}, fmt.Errorf("user %s: %w", name, err)
	}
	return owner{uid: uid, gid: gid, name: name}, nil
}

// userName returns the name of a user, or the uid if it has none.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// chown changes the owner of a newly created folder.
func (o owner) chown(path string) error {
	if !o.dropPrivileges {
		return nil
	}
	if err := os.Lchown(path, o.uid, o.gid); err != nil {
		return fmt.Errorf("change the owner of %s to user %s: %w", path, o.name, err)
	}
	return nil
}

// lacksPasswdEntry reports whether the user is missing from /etc/passwd, as in containers that
// run under an arbitrary uid.
func (o owner) lacksPasswdEntry() bool {
	_, err := user.LookupId(strconv.Itoa(o.uid))
	return err != nil
}

// mapToNamedUser runs a child under a named user, which initdb requires: a user namespace maps
// the current uid to that of nobody. The files still belong to the current uid. The server runs
// without a namespace.
func (o owner) mapToNamedUser(attr *syscall.SysProcAttr) error {
	if o.dropPrivileges || !o.lacksPasswdEntry() {
		return nil
	}
	named, err := lookupUser("nobody")
	if err != nil {
		return fmt.Errorf("user %d has no name, which creating a database requires: %w", o.uid, err)
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: named.uid, HostID: o.uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: named.gid, HostID: o.gid, Size: 1}}
	return nil
}

// explainNamespaceError adds what to do if the kernel did not allow the namespace.
func (o owner) explainNamespaceError(err error) error {
	if o.dropPrivileges || !o.lacksPasswdEntry() {
		return err
	}
	return fmt.Errorf("user %d has no name in /etc/passwd, which creating a database requires, and user namespaces are not allowed: "+
		"add an entry for it, start as another user, or set DATABASE_URL (%w)", o.uid, err)
}
