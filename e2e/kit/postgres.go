package kit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a server on loopback whose commits are durable, and that a test can end and start
// again. It trusts everybody who connects. It has a data folder of its own, which the caller removes.
type Postgres struct {
	Address string // of the loopback interface
	Process *Process
	Env     []string // of the server when it is started again

	dir      string
	settings []string // NAME=VALUE
}

// The roles and the database of a server.
const (
	superuser     = "postgres"
	databaseOwner = "causeway"
	database      = "causeway"
)

// PostgresFolder creates a folder for the data of servers, which belongs to the user that runs them,
// in memory if there is enough of it. The caller removes it.
func PostgresFolder() (string, error) {
	dir, err := makeFolder(memoryFolder())
	if err != nil {
		return dir, err
	}
	return dir, giveToPostgres(dir)
}

// giveToPostgres makes a folder the property of the user that runs servers.
func giveToPostgres(dir string) error {
	u, err := postgresUser()
	if err != nil || u == nil {
		return err
	}
	return os.Chown(dir, int(u.Uid), int(u.Gid))
}

// CreatePostgres creates a data folder, with a database whose owner is not a superuser, and starts
// its server.
func CreatePostgres(ctx context.Context, dir string, settings ...string) (*Postgres, error) {
	p, err := newPostgres(dir, settings)
	if err != nil {
		return nil, err
	}
	if err := p.run(ctx, "initdb", "--no-sync", "--locale=C", "--encoding=UTF8", "--username="+superuser, "--auth=trust"); err != nil {
		return nil, err
	}
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	for _, statement := range []string{"CREATE ROLE " + databaseOwner + " LOGIN CREATEROLE", "CREATE DATABASE " + database +
		" OWNER " + databaseOwner} {
		if err := p.Exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// CopyPostgres starts a server with a copy of the data of one that has been stopped.
func CopyPostgres(ctx context.Context, from *Postgres, dir string, settings ...string) (*Postgres, error) {
	p, err := newPostgres(dir, settings)
	if err != nil {
		return nil, err
	}
	if err := copyFolder(ctx, from.dir, dir); err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}

// StartPostgres starts a server with a data folder that exists.
func StartPostgres(ctx context.Context, dir string, settings ...string) (*Postgres, error) {
	p, err := newPostgres(dir, settings)
	if err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}

// RunScript runs commands of bash as the user that runs the server, with the programs of Postgres,
// which connect to it as the superuser.
func (p *Postgres) RunScript(ctx context.Context, script string) error {
	command, err := postgresCommand("pg_basebackup")
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return err
	}
	command.Env = append(command.Env, "PATH="+filepath.Dir(command.Program)+":"+os.Getenv("PATH"), "PGHOST="+host, "PGPORT="+port,
		"PGUSER="+superuser)
	command.Program, command.Args = "bash", []string{"-euo", "pipefail", "-c", script}
	_, err = MustSucceed(ctx, command)
	return err
}

// NewStandby starts a standby of the server, with a name for synchronous_standby_names. A server that
// has this setting commits nothing before.
func (p *Postgres) NewStandby(ctx context.Context, dir, name string) (*Postgres, error) {
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return nil, err
	}
	primary := fmt.Sprintf("host=%s port=%s user=%s application_name=%s", host, port, superuser, name)
	standby, err := newPostgres(dir, nil)
	if err != nil {
		return nil, err
	}
	if err := standby.run(ctx, "pg_basebackup", "--dbname="+primary, "--checkpoint=fast", "--no-sync", "--write-recovery-conf"); err != nil {
		return nil, err
	}
	return standby, standby.Start(ctx)
}

// StopReplication makes a standby receive nothing more of the server that it follows.
func (p *Postgres) StopReplication(ctx context.Context) error {
	for _, statement := range []string{"ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"} {
		if err := p.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return p.await(ctx, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
}

// CatchUp returns when a standby has applied all that the server has written.
func (p *Postgres) CatchUp(ctx context.Context, primary *Postgres) error {
	conn, err := pgx.Connect(ctx, primary.url(superuser, superuser))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var written string
	if err := conn.QueryRow(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&written); err != nil {
		return err
	}
	return p.await(ctx, "SELECT coalesce(pg_last_wal_replay_lsn() >= '"+written+"', false)")
}

// await returns when a query of the superuser is true.
func (p *Postgres) await(ctx context.Context, query string) error {
	conn, err := pgx.Connect(ctx, p.url(superuser, superuser))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		var holds bool
		if err := conn.QueryRow(ctx, query).Scan(&holds); err != nil || holds {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", query, context.Cause(ctx))
		case <-poll.C:
		}
	}
}

func newPostgres(dir string, settings []string) (*Postgres, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	p := &Postgres{Address: address, dir: dir, settings: settings}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return p, giveToPostgres(dir)
}

// URL returns the URL of the database as its owner.
func (p *Postgres) URL() string { return p.url(databaseOwner, database) }

func (p *Postgres) url(role, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(role), Host: p.Address, Path: "/" + database, RawQuery: "sslmode=disable"}).String()
}

// Exec runs a statement as the superuser.
func (p *Postgres) Exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, p.url(superuser, superuser))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// Start starts the server, and returns when it accepts connections. It starts it again while
// processes of an earlier one still end, or while a disk is full.
func (p *Postgres) Start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return err
	}
	args := []string{"-D", p.dir, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "dynamic_shared_memory_type=mmap"} // in the data folder, because a server that is killed leaves it behind
	for _, setting := range p.settings {
		args = append(args, "-c", setting)
	}
	command, err := postgresCommand("postgres", args...)
	if err != nil {
		return err
	}
	command.Env = append(command.Env, p.Env...)
	for {
		if p.Process, err = Start(command); err != nil {
			return err
		}
		if err = p.awaitConnections(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// awaitConnections returns nil when the server accepts connections, or an error when it has ended.
func (p *Postgres) awaitConnections(ctx context.Context) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if p.Exec(ctx, "SELECT 1") == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			p.Kill()
			return fmt.Errorf("postgres does not accept connections: %w; its last output:\n%s", context.Cause(ctx), p.Process.Tail())
		case <-p.Process.Exited:
			return fmt.Errorf("postgres has ended:\n%s", p.Process.Tail())
		case <-poll.C:
		}
	}
}

// Restore returns when the server accepts connections, and starts it again if it has ended.
func (p *Postgres) Restore(ctx context.Context) error {
	if err := p.awaitConnections(ctx); err == nil || ctx.Err() != nil {
		return err
	}
	return p.Start(ctx)
}

// Kill ends all processes of the server at once.
func (p *Postgres) Kill() {
	select {
	case <-p.Process.Exited:
		return
	default:
	}
	signalWithChildren(p.Process.PID(), syscall.SIGKILL) // those that are frozen do not end with their parent
	p.Process.Kill()
}

// Freeze stops all processes of the server, as a host that hangs. Their connections stay open, and nothing on them is answered.
func (p *Postgres) Freeze() { signalWithChildren(p.Process.PID(), syscall.SIGSTOP) }

// Thaw ends Freeze.
func (p *Postgres) Thaw() { signalWithChildren(p.Process.PID(), syscall.SIGCONT) }

// signalWithChildren sends a signal to a server and its processes: first to the one that would start another.
func signalWithChildren(pid int, s syscall.Signal) {
	children := childrenOf(pid)
	_ = syscall.Kill(pid, s)
	for _, child := range append(children, childrenOf(pid)...) {
		_ = syscall.Kill(child, s)
	}
}

// Stop ends all sessions and stops the server.
func (p *Postgres) Stop(limit time.Duration) error {
	p.Process.Signal(syscall.SIGINT)
	select {
	case <-p.Process.Exited:
		return nil
	case <-time.After(limit):
		p.Kill()
		return fmt.Errorf("postgres did not stop within %s and was killed", limit)
	}
}

func (p *Postgres) run(ctx context.Context, program string, args ...string) error {
	command, err := postgresCommand(program, append([]string{"-D", p.dir}, args...)...)
	if err != nil {
		return err
	}
	_, err = MustSucceed(ctx, command)
	return err
}

// childrenOf returns the ids of the children of a process.
func childrenOf(pid int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil // it has ended
	}
	var children []int
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// postgresCommand returns a command that runs one of the Postgres programs, as another user for
// root, because Postgres refuses to run as root.
func postgresCommand(program string, args ...string) (Command, error) {
	path, err := postgresProgram(program)
	if err != nil {
		return Command{}, err
	}
	as, err := postgresUser()
	return Command{Program: path, Args: args, Env: []string{"LC_ALL=C", "TZ=UTC"}, Dir: "/", User: as}, err
}

// postgresProgram returns the path of one of the programs, where the service looks for them, too.
func postgresProgram(name string) (string, error) {
	if dir := os.Getenv("CAUSEWAY_POSTGRES_BIN"); dir != "" {
		return filepath.Join(dir, name), nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // fails only on an invalid pattern
	if len(found) == 0 {
		return "", fmt.Errorf("found no program %s: install the Debian package postgresql", name)
	}
	return slices.Max(found), nil
}

// postgresUser returns the user that the servers of root run as, and nil for everybody else.
func postgresUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("Postgres cannot run as root, and there is no other user: %w", err)
		}
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(errUID, errGID)
}

// FailoverURL returns the URL of the database on whichever of two servers accepts writes.
func FailoverURL(primary, standby *Postgres) string {
	return strings.Replace(primary.URL(), primary.Address, primary.Address+","+standby.Address, 1) + "&target_session_attrs=read-write"
}
