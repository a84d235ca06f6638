// Package pgembed runs a private Postgres in a data folder with the Postgres programs installed
// on the machine. Clients connect over a unix socket that only the starting user and root can
// open. The server stops when the process that started it ends.
//
// It never listens on the network, never disables durability outside tests, never upgrades data
// to another major version, and never runs two servers on one folder. It requires Linux.
//
// The data folder contains:
//
//	postgres/      the database cluster
//	postgres.log   the server's log
//	postgres.lock  held by the process that started the server
package pgembed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
)

// Options configures a server.
type Options struct {
	// Dir is the data folder. Start creates it with mode 0700 if it is missing.
	Dir string
	// Log receives the location of the data and any repairs. nil discards them.
	Log logrus.FieldLogger
	// MaxConnections limits the client connections. 0 means 100.
	MaxConnections int
	// Settings are further Postgres settings by name. Those that durability or privacy depend
	// on (see pinnedSettings) are rejected.
	Settings map[string]string
	// Throwaway disables durability for speed. It is only for test data.
	Throwaway bool
}

// Server is a running Postgres started by this process.
type Server struct {
	cluster   cluster
	socketDir string // the folder of its unix socket
	lock      io.Closer
	log       logrus.FieldLogger

	process *os.Process
	exited  chan struct{}
	exitErr error // result of the process; valid after exited is closed

	stopOnce sync.Once
	stopErr  error
}

// ErrInUse is returned if another process runs the server of the folder.
var ErrInUse = errors.New("the data folder is in use by another process")

// Start starts the server of a data folder and returns when it accepts connections. The first
// start creates the database. A server left by a killed process is stopped first.
//
// It returns ErrInUse if another process runs the server of the folder. Other errors say what is
// wrong and what to do. If ctx ends first, Start stops what it started.
func Start(ctx context.Context, o Options) (*Server, error) {
	log := o.Log
	if log == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		log = silent
	}
	startedAt := time.Now()

	flags, err := o.flags()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", o.Dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data folder: %w", err)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{lock: lock, log: log, exited: make(chan struct{})}
	if err := s.start(ctx, dir, flags); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	log.WithFields(logrus.Fields{
		"data": s.cluster.path, "user": s.cluster.owner.name, "postgres": s.cluster.programs.major,
		"took": time.Since(startedAt).Round(time.Millisecond).String(),
	}).Info("private Postgres started")
	return s, nil
}

// start starts the server of a locked folder.
func (s *Server) start(ctx context.Context, dir string, flags []string) error {
	path := filepath.Join(dir, clusterName)
	if err := stopOrphans(ctx, path, defaultStopTimeouts, s.log); err != nil {
		return err
	}
	var err error
	if s.cluster, err = openCluster(ctx, path, s.log); err != nil {
		return err
	}
	if s.socketDir, err = s.cluster.makeSocketFolder(); err != nil {
		return err
	}
	if err := s.launch(filepath.Join(dir, "postgres.log"), flags); err != nil {
		return errors.Join(err, removeSocketFolder(s.socketDir))
	}
	if err := s.awaitReady(ctx); err != nil {
		// Stop it at once: nobody has connected.
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_ = s.terminate(cancelled)
		return errors.Join(err, removeSocketFolder(s.socketDir))
	}
	return nil
}

// launch starts the postgres process, with its output in the log file.
func (s *Server) launch(logFile string, flags []string) error {
	out, err := openLog(logFile)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own handle
	sockets := s.socketDir
	if sockets == s.cluster.path {
		sockets = "." // relative to the working directory, so that the path is short and accessible
	}
	cmd, err := s.cluster.command("postgres", append(flags, "-c", "unix_socket_directories="+sockets)...)
	if err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles)
	cmd.Stdout, cmd.Stderr = out, out
	// In its own session Postgres does not receive Ctrl-C from the terminal, so that this
	// process can stop it last. If this process is killed, the kernel sends SIGINT.
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	if err := startOnLockedThread(cmd, func(err error) {
		s.exitErr = err
		close(s.exited)
	}); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	s.process = cmd.Process
	return nil
}

// awaitReady waits until the server accepts connections. Only ctx limits the wait, because
// recovery after a crash can take long.
func (s *Server) awaitReady(ctx context.Context) error {
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("postgres was still starting: %w", context.Cause(ctx))
		case <-s.exited:
			return fmt.Errorf("postgres exited during startup (%w); end of its log:\n%s",
				s.exitErr, lastLines(filepath.Join(filepath.Dir(s.cluster.path), "postgres.log"), 10))
		case <-poll.C:
			if file, ok := readPIDFile(s.cluster.path); ok && file.pid == s.process.Pid && file.ready {
				return nil
			}
		}
	}
}

// URL returns the URL of the database, as the role that owns it.
func (s *Server) URL() string { return s.RoleURL(serviceRole) }

// RoleURL returns the URL of the database, as another role.
func (s *Server) RoleURL(role string) string { return socketURL(s.socketDir, role, serviceDatabase) }

// SuperuserURL returns a URL for operators and tests that create databases or roles. The service
// never uses it.
func (s *Server) SuperuserURL() string { return socketURL(s.socketDir, superuser, superuser) }

// Done returns a channel that is closed when the server has exited.
func (s *Server) Done() <-chan struct{} { return s.exited }

// Stop disconnects all clients, stops the server and unlocks the folder. If ctx ends first, Stop
// kills the server and returns an error; no committed data is lost, and the next start recovers.
// Stop may be called again, or after the server has exited.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		err := s.terminate(ctx)
		s.stopErr = errors.Join(err, removeSocketFolder(s.socketDir), s.lock.Close())
	})
	return s.stopErr
}

// terminate stops the process, first cleanly and then by force.
func (s *Server) terminate(ctx context.Context) error {
	_ = s.process.Signal(syscall.SIGINT) // fast: roll back what runs, checkpoint, exit
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
	}
	_ = s.process.Signal(syscall.SIGQUIT) // immediate: exit now, recover later
	select {
	case <-s.exited:
	case <-time.After(5 * time.Second):
		_ = s.process.Kill()
		<-s.exited
	}
	return fmt.Errorf("postgres was killed before it had shut down; it recovers at the next start: %w", context.Cause(ctx))
}
