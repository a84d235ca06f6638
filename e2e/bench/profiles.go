package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"causeway/e2e/kit"
)

// startProfiles starts a processor profile of the service. The function it returns saves it in
// the folder, with the memory profile and the statements that Postgres spent most time on.
func (b *bench) startProfiles(ctx context.Context, duration time.Duration) (finish func()) {
	check(os.MkdirAll(b.profileDir, 0o755))
	b.meter.exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()")
	save := func(profile, name string) error {
		_, err := kit.MustSucceed(ctx, kit.Command{Program: "curl", Args: []string{"--fail", "--silent", "--show-error",
			"--output", filepath.Join(b.profileDir, name), "http://" + b.pprofAddress + "/debug/pprof/" + profile}})
		return err
	}
	processor := make(chan error, 1)
	go func() { processor <- save(fmt.Sprintf("profile?seconds=%.0f", duration.Seconds()), "service.pprof") }()
	return func() {
		check(<-processor, save("allocs", "service-allocations.pprof"))
		file := must(os.Create(filepath.Join(b.profileDir, "statements.csv")))
		_, err := b.meter.conn.PgConn().CopyTo(ctx, file, `COPY (
			SELECT calls, total_exec_time, mean_exec_time, rows, shared_blks_hit, wal_bytes, regexp_replace(query, '\s+', ' ', 'g') AS statement
			FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 40) TO STDOUT (FORMAT csv, HEADER)`)
		check(err, file.Close())
	}
}
