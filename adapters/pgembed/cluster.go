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

// cluster is a Postgres data directory with its owner and the programs that run it.
type cluster struct {
	path     string
	owner    owner
	programs programs
}

// openCluster opens the cluster at path, or creates it.
func openCluster(ctx context.Context, path string, log logrus.FieldLogger) (cluster, error) {
	version, err := clusterVersion(path)
	if err != nil {
		return cluster{}, err
	}
	programs, err := findPrograms(version)
	if err != nil {
		return cluster{}, err
	}
	owner, err := chooseOwner(path)
	if err != nil {
		return cluster{}, err
	}
	c := cluster{path: path, owner: owner, programs: programs}
	if version == 0 {
		log.WithFields(logrus.Fields{"data": path, "user": owner.name}).Info("creating a private Postgres database")
		return c, c.create(ctx)
	}
	return c, c.fixOwnership()
}

// clusterVersion returns the major version of the cluster at path, or 0 if there is none.
func clusterVersion(path string) (int, error) {
	if info, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read the database folder: %w", err)
	} else if !info.IsDir() {
		// As root, following a link would change the owner of any folder it points to.
		return 0, fmt.Errorf("%s is not a folder; choose another data folder", path)
	}
	text, err := os.ReadFile(filepath.Join(path, "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("%s contains no Postgres database that this user can read: %w", path, err)
	}
	version, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s/PG_VERSION contains %q, which is not a supported version", path, text)
	}
	return version, nil
}

// create creates the cluster under a temporary name and renames it when it is complete and on
// disk, so that a crash leaves either no cluster or a valid one.
func (c cluster) create(ctx context.Context) error {
	dir := filepath.Dir(c.path)
	incomplete, err := filepath.Glob(c.path + ".new-*")
	if err != nil {
		return fmt.Errorf("find incomplete databases: %w", err)
	}
	for _, old := range incomplete {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove an incomplete database: %w", err)
		}
	}
	temporary, err := os.MkdirTemp(dir, clusterName+".new-")
	if err != nil {
		return fmt.Errorf("create the database folder: %w", err)
	}
	defer os.RemoveAll(temporary) // does nothing after the rename
	if err := c.owner.chown(temporary); err != nil {
		return err
	}
	unfinished := c
	unfinished.path = temporary

	// The files are synced once, at the end.
	if err := unfinished.run(ctx, "", "initdb", "--no-sync", "--locale=C", "--encoding=UTF8", "--data-checksums",
		"--username="+superuser, "--auth-local=trust", "--auth-host=reject", "--no-instructions"); err != nil {
		return err
	}
	if err := unfinished.run(ctx, bootstrapSQL, "postgres", "--single", "-F", "-j", superuser); err != nil {
		return err
	}
	if err := unfinished.run(ctx, "", "initdb", "--sync-only"); err != nil {
		return err
	}
	if err := os.Rename(temporary, c.path); err != nil {
		return fmt.Errorf("rename the database folder: %w", err)
	}
	return syncFolder(dir)
}

// bootstrapSQL creates the service's role and database. The role keeps statement errors out of
// the server's log, where they would show customers' data; the client reports them. With -j,
// single-user mode ends a statement at a semicolon followed by an empty line.
const bootstrapSQL = `CREATE ROLE ` + serviceRole + ` LOGIN CREATEROLE;

ALTER ROLE ` + serviceRole + ` SET log_min_messages = log;

CREATE DATABASE ` + serviceDatabase + ` OWNER ` + serviceRole + `;

`

// fixOwnership gives an existing cluster to its owner. A cluster that root copied here belongs
// to root.
func (c cluster) fixOwnership() error {
	info, err := os.Lstat(c.path)
	if err != nil {
		return fmt.Errorf("read the database folder: %w", err)
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
		return fmt.Errorf("change the owner of %s to user %s: %w", c.path, c.owner.name, err)
	}
	return c.owner.chown(c.path) // last, because it marks the change as complete
}

// run runs one of the programs on the cluster with the given input and waits for it.
func (c cluster) run(ctx context.Context, input, program string, args ...string) error {
	cmd, err := c.command(program, args...)
	if err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles)
	if err := c.owner.mapToNamedUser(cmd.SysProcAttr); err != nil {
		return err
	}
	var output strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &output, &output
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Setpgid = true
	exited := make(chan struct{})
	var runErr error
	if err := startOnLockedThread(cmd, func(err error) {
		runErr = err
		close(exited)
	}); err != nil {
		return c.owner.explainNamespaceError(fmt.Errorf("start %s: %w", program, err))
	}
	select {
	case <-exited:
	case <-ctx.Done():
		// Kill the process group: initdb has child processes.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
		return fmt.Errorf("creating the database was cancelled: %w", context.Cause(ctx))
	}
	if runErr == nil && strings.Contains(output.String(), "ERROR:") {
		runErr = errors.New("a statement failed") // single-user mode continues after an error
	}
	if runErr != nil {
		return fmt.Errorf("%s failed (%w):\n%s", program, runErr, output.String())
	}
	return nil
}

// command prepares one of the programs to run on the cluster as its owner.
//
// The owner may have no access to the folders above the cluster, such as /root. When dropping
// privileges, command therefore passes an open handle of the cluster instead of its path.
func (c cluster) command(program string, args ...string) (*exec.Cmd, error) {
	data := c.path
	var handles []*os.File
	if c.owner.dropPrivileges {
		f, err := os.Open(c.path)
		if err != nil {
			return nil, fmt.Errorf("open the database folder: %w", err)
		}
		handles = []*os.File{f}
		data = "/proc/self/fd/3" // the first handle after stdin, stdout and stderr
	}
	// --single must be the first argument, before the folder.
	var first []string
	if len(args) > 0 && args[0] == "--single" {
		first, args = args[:1], args[1:]
	}
	cmd := exec.Command(filepath.Join(c.programs.dir, program), append(append(first, "-D", data), args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"} // no PG variables and no secrets of this process
	cmd.ExtraFiles = handles
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if c.owner.dropPrivileges {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.owner.uid), Gid: uint32(c.owner.gid)}
	}
	return cmd, nil
}
