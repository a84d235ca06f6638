package pgembed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sirupsen/logrus"
)

const (
	clusterName     = "postgres" // the cluster's folder in the data folder
	superuser       = "postgres" // bootstrap role, and the database it connects to
	serviceRole     = "causeway" // owns serviceDatabase, is not a superuser
	serviceDatabase = "causeway"
)

// cluster is a Postgres data directory, who owns it, and the programs that run it.
type cluster struct {
	path     string
	owner    owner
	programs programs
}

// openCluster finds the cluster at path, or makes it.
func openCluster(ctx context.Context, path string, log logrus.FieldLogger) (cluster, error) {
	version, err := clusterVersion(path)
	if err != nil {
		return cluster{}, err
	}
	progs, err := findPrograms(version)
	if err != nil {
		return cluster{}, err
	}
	who, err := chooseOwner(path)
	if err != nil {
		return cluster{}, err
	}
	c := cluster{path: path, owner: who, programs: progs}
	if version == 0 {
		log.WithFields(logrus.Fields{"data": path, "user": who.name}).Info("making a private Postgres database")
		return c, c.create(ctx)
	}
	return c, c.fixOwnership()
}

// clusterVersion is the major version of the cluster at path, 0 if there is none.
func clusterVersion(path string) (int, error) {
	if info, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("look at the database folder: %w", err)
	} else if !info.IsDir() {
		// Following a link as root would give away whatever it points at.
		return 0, fmt.Errorf("%s is not a folder; to keep the data elsewhere, choose another data folder", path)
	}
	text, err := os.ReadFile(filepath.Join(path, "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("%s holds no Postgres database that this user can read: %w", path, err)
	}
	version, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s/PG_VERSION says %q, which is no version we can run", path, text)
	}
	return version, nil
}

// create makes the cluster beside its place and moves it there when it is whole
// and on disk, so that a crash leaves either no cluster or a good one.
func (c cluster) create(ctx context.Context) error {
	dir := filepath.Dir(c.path)
	halfMade, err := filepath.Glob(c.path + ".new-*")
	if err != nil {
		return fmt.Errorf("look for half-made databases: %w", err)
	}
	for _, old := range halfMade {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove a half-made database: %w", err)
		}
	}
	made, err := os.MkdirTemp(dir, clusterName+".new-")
	if err != nil {
		return fmt.Errorf("make the database folder: %w", err)
	}
	defer os.RemoveAll(made) // nothing is left there after the rename
	if err := c.owner.chown(made); err != nil {
		return err
	}
	fresh := c
	fresh.path = made

	// Synced once, at the end.
	if err := fresh.run(ctx, "", "initdb", "--no-sync", "--locale=C", "--encoding=UTF8", "--data-checksums",
		"--username="+superuser, "--auth-local=trust", "--auth-host=reject", "--no-instructions"); err != nil {
		return err
	}
	if err := fresh.run(ctx, bootstrapSQL, "postgres", "--single", "-F", "-j", superuser); err != nil {
		return err
	}
	if err := fresh.run(ctx, "", "initdb", "--sync-only"); err != nil {
		return err
	}
	if err := os.Rename(made, c.path); err != nil {
		return fmt.Errorf("put the database in its place: %w", err)
	}
	return syncFolder(dir)
}

// bootstrapSQL make the service's role and database. An error that a client
// gets is the client's to report; in the server's log it would show customers'
// data, so the role keeps it out. Single-user mode with -j ends a statement at a
// semicolon and an empty line.
const bootstrapSQL = `CREATE ROLE ` + serviceRole + ` LOGIN CREATEROLE;

ALTER ROLE ` + serviceRole + ` SET log_min_messages = log;

CREATE DATABASE ` + serviceDatabase + ` OWNER ` + serviceRole + `;

`

// fixOwnership makes sure that the owner can work in an existing cluster: one that
// root copied here belongs to root.
func (c cluster) fixOwnership() error {
	info, err := os.Lstat(c.path)
	if err != nil {
		return fmt.Errorf("look at the database folder: %w", err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) == c.owner.uid {
		return nil
	}
	err = filepath.WalkDir(c.path, func(path string, _ os.DirEntry, err error) error {
		if err != nil || path == c.path {
			return err
		}
		return os.Lchown(path, c.owner.uid, c.owner.gid)
	})
	if err != nil {
		return fmt.Errorf("give %s to user %s: %w", c.path, c.owner.name, err)
	}
	return c.owner.chown(c.path) // last: it says that all the rest is done
}

// run runs one of the programs on the cluster to its end, with input.
func (c cluster) run(ctx context.Context, input, program string, args ...string) error {
	cmd, err := c.command(program, args...)
	if err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles)
	if err := c.owner.mapToNamedUser(cmd.SysProcAttr); err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &said, &said
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Setpgid = true
	ended := make(chan struct{})
	var outcome error
	if err := startOnLockedThread(cmd, func(err error) {
		outcome = err
		close(ended)
	}); err != nil {
		return c.owner.explainNamespaceError(fmt.Errorf("start %s: %w", program, err))
	}
	select {
	case <-ended:
	case <-ctx.Done():
		// The whole group: initdb has children of its own.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		return fmt.Errorf("making the database was given up: %w", context.Cause(ctx))
	}
	if outcome == nil && strings.Contains(said.String(), "ERROR:") {
		outcome = errors.New("a statement was refused") // single-user mode goes on after it
	}
	if outcome != nil {
		return fmt.Errorf("%s failed (%w):\n%s", program, outcome, said.String())
	}
	return nil
}

// command prepares one of the programs to work on the cluster as its owner.
//
// The owner need not be able to enter the folders above the cluster (/root, say):
// when we drop rights, we hand down an open handle of the cluster instead of its
// path, and the data stays where the user asked for it.
func (c cluster) command(program string, args ...string) (*exec.Cmd, error) {
	data := c.path
	var handles []*os.File
	if c.owner.dropPrivileges {
		f, err := os.Open(c.path)
		if err != nil {
			return nil, fmt.Errorf("open the database folder: %w", err)
		}
		handles = []*os.File{f}
		data = "/proc/self/fd/3" // the first handle after stdin, stdout, stderr
	}
	// --single must be the first argument; the folder comes after it.
	var first []string
	if len(args) > 0 && args[0] == "--single" {
		first, args = args[:1], args[1:]
	}
	cmd := exec.Command(filepath.Join(c.programs.dir, program), append(append(first, "-D", data), args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"} // none of our PG… variables or secrets
	cmd.ExtraFiles = handles
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if c.owner.dropPrivileges {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.owner.uid), Gid: uint32(c.owner.gid)}
	}
	return cmd, nil
}
