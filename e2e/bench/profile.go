package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"causeway/e2e/kit"
)

// profilingSettings make Postgres count statements. That makes everything slower, so a run
// with profiles is not for comparing figures.
var profilingSettings = map[string]string{"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "all"}

// startProfiles starts a processor profile of the service. The function it returns saves it in
// the folder, with the memory profile and the statements that Postgres spent its time on.
func (b *bench) startProfiles(ctx context.Context, duration time.Duration) (finish func() error, err error) {
	if err := os.MkdirAll(b.profileDir, 0o755); err != nil {
		return nil, err
	}
	const reset = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()"
	if _, err := b.env.meter.conn.PgConn().Exec(ctx, reset).ReadAll(); err != nil {
		return nil, err
	}
	save := func(profile, name string) error {
		_, err := kit.MustSucceed(ctx, kit.Command{Program: "curl", Args: []string{"--fail", "--silent", "--show-error",
			"--output", filepath.Join(b.profileDir, name), "http://" + b.env.pprofAddress + "/debug/pprof/" + profile}})
		return err
	}
	processor := make(chan error, 1)
	go func() { processor <- save(fmt.Sprintf("profile?seconds=%.0f", duration.Seconds()), "service.pprof") }()
	return func() error {
		return errors.Join(<-processor, save("allocs", "service-allocations.pprof"), b.saveStatements(ctx))
	}, nil
}

// saveStatements saves the statements that Postgres spent most time on.
func (b *bench) saveStatements(ctx context.Context) error {
	file, err := os.Create(filepath.Join(b.profileDir, "statements.csv"))
	if err != nil {
		return err
	}
	_, err = b.env.meter.conn.PgConn().CopyTo(ctx, file, `COPY (
		SELECT calls, total_exec_time, mean_exec_time, rows, shared_blks_hit, wal_bytes, regexp_replace(query, '\s+', ' ', 'g') AS statement
		FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 40) TO STDOUT (FORMAT csv, HEADER)`)
	return errors.Join(err, file.Close())
}

// withDiagnostics adds the end of the service's log and the state of the run to an error.
func (b *bench) withDiagnostics(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b.env.meter != nil {
		waiting, parked, countErr := b.env.meter.countWebhooks(ctx)
		err = errors.Join(err, countErr, fmt.Errorf("done by kind: %v; received: %s; %d webhooks to be sent, %d not sent any more", b.doneByKind, b.env.receiver, waiting, parked))
	}
	return fmt.Errorf("%w\nthe last output of the service:\n%s", err, b.env.service.lastOutput())
}
