package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"causeway/e2e/kit"
)

// diskFolder returns a temporary folder on a disk, because a commit in memory costs nothing.
func diskFolder() string {
	const tmpfsMagic, ramfsMagic = 0x01021994, 0x858458f6
	for _, dir := range []string{os.TempDir(), "/var/tmp"} {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err == nil && s.Type != tmpfsMagic && s.Type != ramfsMagic {
			return dir
		}
	}
	failf("%s and /var/tmp are in memory: set TMPDIR to a folder on a disk", os.TempDir())
	return ""
}

// addConditions adds what the figures were measured on, without host name or path.
func (b *bench) addConditions() {
	fs := must(procfs.NewDefaultFS())
	version, _, _ := strings.Cut(b.meter.conn.PgConn().ParameterStatus("server_version"), " ")
	add := func(name, value string) { b.report.add(conditions, name, value) }
	add("Date", time.Now().UTC().Format("2006-01-02 15:04 MST"))
	add("Command", fmt.Sprintf("`go run ./e2e/bench --seconds %d --customers %d --rows %d --lines %d --entries %d`",
		b.seconds, b.customerCount, b.importRows, b.statementLines, b.ledgerEntries))
	add("Processor", fmt.Sprintf("%s, %d cores", must(fs.CPUInfo())[0].ModelName, runtime.NumCPU()))
	add("Memory", fmt.Sprintf("%.0f GB", float64(*must(fs.Meminfo()).MemTotalBytes)/1e9))
	add("Disk", "a synced write of 8 KiB takes "+formatDuration(syncTime(b.folder)))
	add("Go", strings.TrimPrefix(runtime.Version(), "go"))
	add("Postgres", version)
}

// syncTime returns how long the disk takes for a synced write, which every commit needs.
func syncTime(dir string) time.Duration {
	file := must(os.Create(filepath.Join(dir, "sync")))
	defer os.Remove(file.Name())
	defer file.Close()
	const pageSize, pages = 8 << 10, 64
	must(file.Write(make([]byte, pages*pageSize)))
	page, next := make([]byte, pageSize), int64(0)
	return timed(200, func() time.Duration {
		next = (next + 1) % pages
		start := time.Now()
		must(file.WriteAt(page, next*pageSize))
		check(syscall.Fdatasync(int(file.Fd())))
		return time.Since(start)
	}).p50
}

// startProfiles starts a processor profile of the service. The function it returns saves it in
// the folder, with the memory profile and the statements that Postgres spent most time on.
func (b *bench) startProfiles(ctx context.Context, duration time.Duration) (finish func()) {
	check(os.MkdirAll(b.profileDir, 0o755))
	b.meter.exec(ctx, "SELECT pg_stat_statements_reset()")
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
			SELECT calls, total_exec_time, mean_exec_time, rows, shared_blks_hit, wal_bytes,
			       regexp_replace(query, '\s+', ' ', 'g') AS statement
			FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 40) TO STDOUT (FORMAT csv, HEADER)`)
		check(err, file.Close())
	}
}
