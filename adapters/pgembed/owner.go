package pgembed

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user that Postgres runs as: it refuses to run as root.
type owner struct {
	uid, gid       int
	name           string
	dropPrivileges bool // we are root and give up its rights for the child
}

// chooseOwner decides who runs the cluster at path (which need not exist): as an
// ordinary user, we do; as root, whoever owns it, else postgres, else nobody.
func chooseOwner(path string) (owner, error) {
	uid, gid, exists := -1, -1, false
	if info, err := os.Lstat(path); err == nil {
		stat := info.Sys().(*syscall.Stat_t)
		uid, gid, exists = int(stat.Uid), int(stat.Gid), true
	}
	if me := os.Geteuid(); me != 0 {
		if exists && uid != me {
			return owner{}, fmt.Errorf("%s belongs to user %s: start as that user or as root, or choose another data folder", path, userName(uid))
		}
		return owner{uid: me, gid: os.Getegid(), name: userName(me)}, nil
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
	return owner{}, errors.New("postgres cannot run as root, and this machine has neither a user postgres nor nobody: start as an ordinary user")
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

// userName is the name of a user, or its number when it has none.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// chown hands a folder that we made to the owner.
func (o owner) chown(path string) error {
	if !o.dropPrivileges {
		return nil
	}
	if err := os.Lchown(path, o.uid, o.gid); err != nil {
		return fmt.Errorf("give %s to user %s: %w", path, o.name, err)
	}
	return nil
}

// lacksPasswdEntry says that the user has no line in the list of users, as happens in
// containers that are run under a made-up number.
func (o owner) lacksPasswdEntry() bool {
	_, err := user.LookupId(strconv.Itoa(o.uid))
	return err != nil
}

// mapToNamedUser makes a child see a user that has a name: initdb insists on one. In a
// user namespace of its own our number passes for that of nobody; on disk the
// files are ours all the same. The server itself runs without this.
func (o owner) mapToNamedUser(attr *syscall.SysProcAttr) error {
	if o.dropPrivileges || !o.lacksPasswdEntry() {
		return nil
	}
	named, err := lookupUser("nobody")
	if err != nil {
		return fmt.Errorf("user %d has no name, which making a database needs: %w", o.uid, err)
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: named.uid, HostID: o.uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: named.gid, HostID: o.gid, Size: 1}}
	return nil
}

// explainNamespaceError adds what to do when the kernel refused the namespace.
func (o owner) explainNamespaceError(err error) error {
	if o.dropPrivileges || !o.lacksPasswdEntry() {
		return err
	}
	return fmt.Errorf("user %d has no name in /etc/passwd, which making a database needs, and this machine does not let us work around it: "+
		"add a line for it, start as another user, or use a database of your own (%w)", o.uid, err)
}
