package faults

import (
	"context"
	endian "encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"causeway/e2e/kit"
)

// clockStep is longer than a lease, and shorter than a quote is valid.
const clockStep = 45

// replaceClock restarts the database with a clock that can be set. That of the service cannot: its
// program reads it without a library. Only the difference matters.
func (s *system) replaceClock() {
	s.t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		s.t.Skip("there is no gcc, which compiles a clock that can be set")
	}
	library := filepath.Join(s.dataDir, "clock.so")
	_, err = kit.MustSucceed(waitContext(s.t), kit.Command{Program: compiler, Args: []string{"-shared", "-fPIC", "-O1", "-o", library,
		"testdata/clock.c"}})
	s.must(err)
	s.setClock(0)
	s.must(s.postgres.Stop(recoveryTimeout))
	s.postgres.Env = []string{"LD_PRELOAD=" + library, "CLOCK_OFFSET=" + s.clockFile()}
	s.must(s.postgres.Start(waitContext(s.t)))
}

func (s *system) clockFile() string { return filepath.Join(s.dataDir, "clock-offset") }

// setClock sets how many seconds the clock of the database is ahead. The file must not be replaced,
// because the server has mapped it.
func (s *system) setClock(seconds int64) {
	s.t.Helper()
	file, err := os.OpenFile(s.clockFile(), os.O_WRONLY|os.O_CREATE, 0o644)
	s.must(err)
	_, err = file.Write(endian.NativeEndian.AppendUint64(nil, uint64(seconds)))
	s.must(err)
	s.must(file.Close())
}

// stepClock makes the clock of the database differ by turns in each direction, until the service has
// noticed, and corrects it.
func (s *system) stepClock(round int) {
	s.t.Helper()
	s.setClock(clockStep * int64(1-round%2*2))
	s.eventually(func() string { return "the service notices that the clocks differ" }, func() bool { return !s.isReady() })
	s.sleep(2 * time.Second)
	s.setClock(0)
	s.eventually(func() string { return "the service notices that the clocks agree" }, s.isReady)
}

// isReady reports whether the first process is ready.
func (s *system) isReady() bool {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
	defer cancel()
	return s.processes[0].running.AwaitReady(ctx, "http://"+s.processes[0].address) == nil
}
