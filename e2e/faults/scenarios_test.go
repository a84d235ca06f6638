package faults

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// roundsEnv is how often each fault happens. Without it the quick scenarios run, with one fault each.
const roundsEnv = "FAULT_ROUNDS"

// standbyName is the name of the standby in synchronous_standby_names.
const standbyName = "standby"

// scenario is a fault while payments are in flight.
type scenario struct {
	name      string
	quick     bool     // is also tested without roundsEnv
	processes int      // of the service; 0 is one
	settings  []string // of the database
	proxy     bool     // between the service and the database
	standby   bool     // replicates synchronously
	once      bool     // can happen only once
	// prepareDisk prepares the folder of the data, or skips the test.
	prepareDisk func(t *testing.T, dir string)
	// prepareDatabase prepares the server before it is used, or skips the test.
	prepareDatabase func(s *system)
	// strike makes the fault and ends it.
	strike func(s *system, round int)
}

var scenarios = []scenario{
	{name: "the service is killed", quick: true, strike: func(s *system, _ int) { s.processes[0].restart() }},
	{name: "two processes are killed in turn", processes: 2, strike: func(s *system, round int) { s.processes[round%2].restart() }},
	{name: "three processes are killed in turn", processes: 3, strike: func(s *system, round int) { s.processes[round%3].restart() }},
	{name: "one of two processes is suspended for longer than a lease", processes: 2, once: true, strike: func(s *system, _ int) {
		s.processes[0].running.Signal(syscall.SIGSTOP)
		s.sleep(40 * time.Second)
		s.processes[0].running.Signal(syscall.SIGCONT)
	}},
	{name: "the database is killed", quick: true, strike: func(s *system, _ int) { s.restartDatabase() }},
	{name: "connections end before, at and after commits", quick: true, proxy: true, strike: (*system).cutConnections},
	{name: "the network is silent for half a minute", proxy: true, once: true, strike: func(s *system, _ int) {
		s.proxy.Silence()
		s.sleep(30 * time.Second)
		s.proxy.Resume()
	}},
	{name: "connections end and the database and two processes are killed in turn", processes: 2, proxy: true,
		strike: func(s *system, round int) {
			switch round % 4 {
			case 0, 2:
				s.cutConnections(round)
			case 1:
				s.restartDatabase()
			case 3:
				s.processes[round/4%2].restart()
			}
		}},
	{name: "a standby takes over from a killed database", quick: true, processes: 2, standby: true, once: true,
		settings: []string{"synchronous_standby_names=" + standbyName},
		strike: func(s *system, _ int) {
			s.postgres.Kill()
			s.must(s.standby.Exec(waitContext(s.t), "SELECT pg_promote()"))
		}},
	{name: "the disk of the database is full", prepareDisk: mountSmallDisk, settings: []string{"max_wal_size=48MB", "min_wal_size=32MB"},
		strike: (*system).fillDisk},
	{name: "the clocks of the service and the database differ", prepareDatabase: (*system).replaceClock, strike: (*system).stepClock},
}

func TestFaults(t *testing.T) {
	t.Parallel()
	// Payments of every kind are in flight while a fault happens again and again. Every accepted
	// payment is final exactly once, balances are exact, and every event arrives in order.
	rounds, err := strconv.Atoi(os.Getenv(roundsEnv))
	if os.Getenv(roundsEnv) != "" && (err != nil || rounds < 1) {
		t.Fatalf("%s must be a number from 1", roundsEnv)
	}
	for _, c := range scenarios {
		if rounds == 0 && !c.quick {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, c)
			l := s.startLoad()
			faults, between := max(1, rounds), int64(20) // payments
			if c.once {
				faults, between = 1, between*int64(faults)
			}
			for round := range faults {
				l.awaitPayments(between + rand.Int64N(between))
				c.strike(s, round)
			}
			l.awaitPayments(between)
			l.finish()
			l.check()
		})
	}
}

// cutConnections makes commits fail in each way, and at last ends all connections.
func (s *system) cutConnections(int) {
	s.t.Helper()
	for _, fault := range []kit.CommitFault{kit.CutBeforeCommit, kit.CutAfterCommit, kit.VanishBeforeCommit, kit.VanishAfterCommit} {
		before := s.proxy.CommitFaults()
		s.proxy.FailNextCommit(fault)
		s.eventually(func() string { return "a commit that fails" }, func() bool { return s.proxy.CommitFaults() > before })
	}
	s.proxy.CloseConnections()
}

// restartDatabase kills the server and starts it again.
func (s *system) restartDatabase() {
	s.t.Helper()
	s.postgres.Kill()
	s.must(s.postgres.Start(waitContext(s.t)))
}

// mountSmallDisk makes the folder of the data a file system of its own.
func mountSmallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=200m,mode=755"); err != nil {
		t.Skipf("this user cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fillDisk leaves the database no space for some seconds. A server that cannot write its log ends.
func (s *system) fillDisk(int) {
	s.t.Helper()
	const refused = "No space left on device"
	server := s.postgres.Process
	before := strings.Count(server.Output(), refused)
	ballast := filepath.Join(s.dataDir, "ballast")
	s.must(fill(ballast))
	s.eventually(func() string { return "a write of the database fails" },
		func() bool { return strings.Count(server.Output(), refused) > before })
	s.sleep(5 * time.Second)
	s.must(os.Remove(ballast))
	s.must(s.postgres.Restore(waitContext(s.t)))
}

// fill writes a file until the disk is full.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(zeros)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// must ends the test on an error.
func (s *system) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *system) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.t.Context().Done():
	}
}
