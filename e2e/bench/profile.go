package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
	"time"
)

// profiles takes processor profiles of the service and of the generator while a
// phase runs, and asks Postgres which statements took its time. What it needs makes
// everything a little slower, so a run with it is not for comparing figures.
type profiles struct {
	folder        string
	errs          chan error
	generatorFile *os.File
}

// profilingSettings makes Postgres count statements, those inside functions too, and log the
// plans of slow ones.
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

// startProfiles starts the profiles, for that long.
func (b *bench) startProfiles(ctx context.Context, long time.Duration) (*profiles, error) {
	if err := os.MkdirAll(b.profileDir, 0o755); err != nil {
		return nil, err
	}
	p := &profiles{folder: b.profileDir, errs: make(chan error, 1)}
	go func() {
		p.errs <- downloadTo(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", b.env.pprofAddress, int(long.Seconds())),
			filepath.Join(p.folder, "service.pprof"))
	}()
	var err error
	if p.generatorFile, err = os.Create(filepath.Join(p.folder, "generator.pprof")); err != nil {
		return nil, err
	}
	if err := b.env.meter.exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		return nil, err
	}
	if err := b.env.meter.exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
		return nil, err
	}
	return p, pprof.StartCPUProfile(p.generatorFile)
}

// finish writes the profiles down.
func (p *profiles) finish(ctx context.Context, b *bench) error {
	pprof.StopCPUProfile()
	if err := p.generatorFile.Close(); err != nil {
		return err
	}
	if err := <-p.errs; err != nil {
		return fmt.Errorf("profile the service (does it offer CAUSEWAY_PPROF?): %w", err)
	}
	if err := downloadTo(ctx, "http://"+b.env.pprofAddress+"/debug/pprof/allocs", filepath.Join(p.folder, "service-allocations.pprof")); err != nil {
		return err
	}
	if err := p.writeStatements(ctx, b); err != nil {
		return err
	}
	slow, err := os.ReadFile(filepath.Join(b.env.folder, "data", "postgres.log"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.folder, "slow-plans.txt"), slow, 0o600)
}

func downloadTo(ctx context.Context, url, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", request.URL.Path, answer.Status)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, answer.Body); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// writeStatements lists what Postgres spent its time on, the most expensive first.
func (p *profiles) writeStatements(ctx context.Context, b *bench) error {
	rows, err := b.env.meter.conn.Query(ctx, `
		SELECT calls, round(total_exec_time::numeric, 1)::text, round(mean_exec_time::numeric, 3)::text,
		       plans, round(total_plan_time::numeric, 1)::text, rows, shared_blks_hit, wal_bytes::bigint, query
		FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) ORDER BY total_exec_time + total_plan_time DESC LIMIT 40`, b.env.meter.database)
	if err != nil {
		return err
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "calls\ttotal ms\tmean ms\tplans\tplan ms\trows\tblocks\tWAL bytes\t  statement")
	for rows.Next() {
		var calls, plans, count, blocks, wal int64
		var total, mean, planning, query string
		if err := rows.Scan(&calls, &total, &mean, &plans, &planning, &count, &blocks, &wal, &query); err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%s\t%d\t%d\t%d\t  %.400s\n", calls, total, mean, plans, planning, count, blocks, wal, strings.Join(strings.Fields(query), " "))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_ = table.Flush() // to a string: never fails
	return os.WriteFile(filepath.Join(p.folder, "statements.txt"), []byte(text.String()), 0o600)
}
