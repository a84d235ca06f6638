package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"causeway/adapters/apiclient"
)

// profilingSettings make Postgres count statements and log the plans of slow ones. They make
// everything slower, so a run with profiles is not for comparing figures.
var profilingSettings = map[string]string{
	"shared_preload_libraries":           "pg_stat_statements,auto_explain",
	"pg_stat_statements.track":           "all",
	"pg_stat_statements.track_planning":  "on",
	"auto_explain.log_min_duration":      "50ms",
	"auto_explain.log_analyze":           "on",
	"auto_explain.log_timing":            "off",
	"auto_explain.log_buffers":           "on",
	"auto_explain.log_nested_statements": "on",
}

// startProfiles starts processor profiles of the service and the generator. The function it
// returns writes them to the folder, with the statements that Postgres spent its time on.
func (b *bench) startProfiles(ctx context.Context, duration time.Duration) (finish func() error, err error) {
	if err := os.MkdirAll(b.profileDir, 0o755); err != nil {
		return nil, err
	}
	service := make(chan error, 1)
	go func() {
		service <- b.savePprof(ctx, fmt.Sprintf("profile?seconds=%d", int(duration.Seconds())), "service.pprof")
	}()
	generator, err := os.Create(filepath.Join(b.profileDir, "generator.pprof"))
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{"CREATE EXTENSION IF NOT EXISTS pg_stat_statements", "SELECT pg_stat_statements_reset()"} {
		if err := b.env.meter.exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	finish = func() error {
		pprof.StopCPUProfile()
		return errors.Join(generator.Close(), <-service, b.savePprof(ctx, "allocs", "service-allocations.pprof"), b.saveStatements(ctx), b.saveFile("slow-plans.txt", func(to io.Writer) error {
			log, err := os.ReadFile(filepath.Join(b.env.folder, "data", "postgres.log"))
			if err == nil {
				_, err = to.Write(log)
			}
			return err
		}))
	}
	return finish, pprof.StartCPUProfile(generator)
}

// saveFile writes a file of the profile folder.
func (b *bench) saveFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(filepath.Join(b.profileDir, name))
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// savePprof saves a profile that the service offers.
func (b *bench) savePprof(ctx context.Context, profile, name string) error {
	client := apiclient.Client{BaseURL: "http://" + b.env.pprofAddress + "/debug/pprof/"}
	response, err := client.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: profile})
	if err == nil {
		err = response.Err(http.MethodGet, profile)
	}
	if err != nil {
		return err
	}
	return b.saveFile(name, func(to io.Writer) error {
		_, err := to.Write(response.Body)
		return err
	})
}

// saveStatements saves the statements that Postgres spent most time on.
func (b *bench) saveStatements(ctx context.Context) error {
	return b.saveFile("statements.csv", func(to io.Writer) error {
		_, err := b.env.meter.conn.PgConn().CopyTo(ctx, to, `COPY (
			SELECT calls, round(total_exec_time::numeric, 1) AS total_ms, round(mean_exec_time::numeric, 3) AS mean_ms, plans,
			       round(total_plan_time::numeric, 1) AS plan_ms, rows, shared_blks_hit AS blocks, wal_bytes, regexp_replace(query, '\s+', ' ', 'g') AS statement
			FROM pg_stat_statements ORDER BY total_exec_time + total_plan_time DESC LIMIT 40) TO STDOUT (FORMAT csv, HEADER)`)
		return err
	})
}

// withDiagnostics adds the end of the service's log and the state of the run to an error.
func (b *bench) withDiagnostics(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b.env.pprofAddress != "" {
		err = errors.Join(err, b.savePprof(ctx, "goroutine?debug=2", "goroutines.txt"))
	}
	if b.env.receiver != nil {
		waiting, parked, countErr := b.env.meter.countWebhooks(ctx)
		err = errors.Join(err, countErr, fmt.Errorf("done by kind: %v; received: %s; %d webhooks to be sent, %d not sent any more", b.doneByKind, b.env.receiver, waiting, parked))
	}
	return fmt.Errorf("%w\nthe last output of the service:\n%s", err, b.env.service.lastOutput())
}
