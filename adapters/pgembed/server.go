// Package pgembed runs a private Postgres in a data folder, from the Postgres
// programs that the machine has: the same engine as in production, with nothing
// to set up. It is reached over a unix socket that only the starting user (and
// root) can open, and it lives and dies with the process that started it.
//
// It never listens on the network, never gives up durability outside of tests,
// never upgrades data from one major version to another, and never lets two
// servers work on one folder. It needs Linux.
//
// What it keeps in the data folder:
//
//	postgres/      the database cluster
//	postgres.log   what the server has to say
//	postgres.lock  held by the process that owns the server
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

// Options say where a server keeps its data and how it is set.
type Options struct {
	// Dir is the data folder. It is made (mode 0700) when missing.
	Dir string
	// Log hears where the data is and what had to be repaired; nil is silence.
	Log logrus.FieldLogger
	// MaxConnections is how many clients may connect at once; 0 means 100.
	MaxConnections int
	// Settings are further Postgres settings, by name. Those that durability or
	// privacy rests on (see pinned) are refused.
	Settings map[string]string
	// Throwaway gives up durability for speed: for the data of a test run, never
	// for data that anyone will want back.
	Throwaway bool
}

// Server is a running Postgres that belongs to this process.
type Server struct {
	cluster   cluster
	socketDir string // the folder that holds its unix socket
	lock      io.Closer
	log       logrus.FieldLogger

	process *os.Process
	exited  chan struct{}
	exitErr error // why the process ended; to be read after exited is closed

	stopOnce sync.Once
	stopErr  error
}

// ErrInUse says that another process owns the server of the folder.
var ErrInUse = errors.New("the data folder is in use by another process")

// Start brings up the server of a data folder, making the database on the first
// start, and returns when it takes connections. A server that an earlier, killed
// process left behind is stopped first.
//
// Errors: ErrInUse when another process owns the folder; else what is missing or
// wrong on the machine and what to do about it. When ctx ends first, whatever
// was started is stopped again.
func Start(ctx context.Context, o Options) (*Server, error) {
	log := o.Log
	if log == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		log = silent
	}
	began := time.Now()

	flags, err := o.flags()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", o.Dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
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
		"took": time.Since(began).Round(time.Millisecond).String(),
	}).Info("private Postgres is up")
	return s, nil
}

// start does what Start does once the folder is locked.
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
		// The process is there, but it is of no use to anyone.
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_ = s.terminate(gone)
		return errors.Join(err, removeSocketFolder(s.socketDir))
	}
	return nil
}

// launch starts the postgres process, its words going to the log file.
func (s *Server) launch(logFile string, flags []string) error {
	out, err := openLog(logFile)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own handle
	sockets := s.socketDir
	if sockets == s.cluster.path {
		sockets = "." // Postgres works inside its cluster, so no path is too long or closed to it
	}
	cmd, err := s.cluster.command("postgres", append(flags, "-c", "unix_socket_directories="+sockets)...)
	if err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles)
	cmd.Stdout, cmd.Stderr = out, out
	// A session of its own: Ctrl-C in the terminal reaches us alone, and we stop
	// Postgres last. If we are killed, the kernel asks it to shut down.
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

// awaitReady returns when the server takes connections. Recovery after a crash
// may take its time, so only ctx limits it.
func (s *Server) awaitReady(ctx context.Context) error {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("postgres was still starting: %w", context.Cause(ctx))
		case <-s.exited:
			return fmt.Errorf("postgres ended while it started (%w); its log says:\n%s",
				s.exitErr, lastLines(filepath.Join(filepath.Dir(s.cluster.path), "postgres.log"), 10))
		case <-look.C:
			if note, ok := readPIDFile(s.cluster.path); ok && note.pid == s.process.Pid && note.ready {
				return nil
			}
		}
	}
}

// URL is how the service connects: as the role that owns the database. pgx and
// libpq accept it.
func (s *Server) URL() string { return socketURL(s.socketDir, serviceRole, serviceDatabase) }

// SuperuserURL is how an operator or a test connects who must create databases
// or roles. The service itself never uses it.
func (s *Server) SuperuserURL() string { return socketURL(s.socketDir, superuser, superuser) }

// Done is closed when the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.exited }

// Stop disconnects every client, stops the server cleanly and gives the folder
// free. If ctx ends before that is done, the server is ended at once and an error
// says so; nothing committed is lost, the next start recovers. Stopping twice, or
// a server that has died, is fine.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		err := s.terminate(ctx)
		s.stopErr = errors.Join(err, removeSocketFolder(s.socketDir), s.lock.Close())
	})
	return s.stopErr
}

// terminate asks more and more firmly until the process is gone.
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
	return fmt.Errorf("postgres was ended before it could finish, it recovers at the next start: %w", context.Cause(ctx))
}
