package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
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
	for _, row := range [][2]string{
		{"Date", time.Now().UTC().Format("2006-01-02 15:04 MST")},
		{"Command", fmt.Sprintf("`go run ./e2e/bench --seconds %d --customers %d --lines %d --entries %d`",
			b.seconds, b.customerCount, b.statementLines, b.ledgerEntries)},
		{"Processor", fmt.Sprintf("%s, %d cores", must(fs.CPUInfo())[0].ModelName, runtime.NumCPU())},
		{"Memory", fmt.Sprintf("%.0f GB", float64(*must(fs.Meminfo()).MemTotalBytes)/1e9)},
		{"Disk", "a synced write of 8 KiB takes " + formatDuration(syncTime(b.folder))},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")}, {"Postgres", version},
	} {
		b.report.add(conditions, row[0], row[1])
	}
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
