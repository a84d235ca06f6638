package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/ports/portstest"
)

func TestReady_ClockThatDiffers(t *testing.T) {
	t.Parallel()
	// A process whose clock differs from the database's is not ready and says why, and commands that
	// set times in the ledger are refused, until the clock is corrected.
	clock := new(portstest.OffsetClock)
	clock.Set(-90 * time.Minute) // a slow measurement finds less
	db := openDB(t, postgres.Options{URL: pgtest.New(t), MaxConnections: 2, Clock: clock})
	a := &app{db: db, outage: new(outage)}

	a.measureClock(t.Context())

	if f, ok := fault.As(a.ready(t.Context())); !ok || f.Reason != "Clock differs" || f.Code != fault.ServiceUnavailable {
		t.Errorf("ready: %v", f)
	}
	var errOut strings.Builder
	env := newEnv(io.Discard, &errOut)
	env.Open = func(context.Context, cli.DatabaseFlags, cli.Access) (cli.Services, error) {
		return openedServices{services{db: db}}, nil
	}
	status := runIn(t.Context(), env, []string{"ledger", "soft-close", "2025-09", "--actor", "ana"})
	if status != 1 || !strings.Contains(errOut.String(), "by 1h") {
		t.Errorf("a command: exit %d, %s", status, &errOut)
	}

	clock.Set(0)
	a.measureClock(t.Context())
	if err := a.ready(t.Context()); err != nil {
		t.Errorf("ready with the right clock: %v", err)
	}
}

// openedServices are on a database that stays open after a command.
type openedServices struct{ services }

func (openedServices) Close() error { return nil }
