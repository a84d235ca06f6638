package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"

	"causeway/e2e/kit"
)

// meter reads what the run costs: processor time by process, and the counters of Postgres.
// Its connection is to another database, so that none of the commits it counts is its own.
type meter struct {
	conn                   *pgx.Conn
	database, superuserURL string
	serverPID, postgresPID int
}

func newMeter(ctx context.Context, superuserURL, serviceURL string, serverPID int) (*meter, error) {
	settings, err := pgx.ParseConfig(serviceURL)
	if err != nil {
		return nil, err
	}
	m := &meter{database: settings.Database, serverPID: serverPID, superuserURL: superuserURL}
	if m.conn, err = pgx.Connect(ctx, superuserURL); err != nil {
		return nil, err
	}
	stat, err := statOf(int(m.conn.PgConn().PID()))
	m.postgresPID = stat.PPID
	return m, err
}

func (m *meter) close() { _ = m.conn.Close(context.Background()) }

// exec executes a statement on the server, such as CHECKPOINT.
func (m *meter) exec(ctx context.Context, statement string) error {
	_, err := m.conn.Exec(ctx, statement)
	return err
}

// inDatabase connects to a database. Its commits are counted, so it is not for use during a
// measurement.
func (m *meter) inDatabase(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	settings, err := pgx.ParseConfig(m.superuserURL)
	if err != nil {
		return err
	}
	settings.Database = database
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// execIn executes a statement in a database, such as VACUUM or ANALYZE.
func (m *meter) execIn(ctx context.Context, database, statement string) error {
	return m.inDatabase(ctx, database, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// queryIn reads one row from a database.
func (m *meter) queryIn(ctx context.Context, database, query string, into ...any) error {
	return m.inDatabase(ctx, database, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, query).Scan(into...) })
}

// countWebhooks counts the events to be sent, and those that will not be sent any more.
func (m *meter) countWebhooks(ctx context.Context) (waiting, parked int64, err error) {
	err = m.queryIn(ctx, m.database, `SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog),
		(SELECT count(*) FROM webhook_attempts WHERE given_up)`, &waiting, &parked)
	return waiting, parked, err
}

func (m *meter) countPostings(ctx context.Context) (n int64, err error) {
	err = m.queryIn(ctx, m.database, "SELECT coalesce(sum(seq), 0)::bigint FROM ledger_clocks", &n)
	return n, err
}

// countTransactions counts the transactions by the name of their kind, or by their state if
// they are neither completed nor quotes that were not paid.
func (m *meter) countTransactions(ctx context.Context) (counts map[string]int64, err error) {
	counts = map[string]int64{}
	err = m.inDatabase(ctx, m.database, func(conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, `
			SELECT CASE WHEN status IN ('PENDING', 'EXPIRED') AND quote_id IS NOT NULL AND source_internal IS NULL THEN 'unpaid quotes'
			            WHEN status <> 'COMPLETED' OR refund_status <> '' THEN status || ' ' || refund_status
			            WHEN direction = 'OUTGOING' AND quote_id IS NULL THEN 'transfers out'
			            WHEN direction = 'OUTGOING' AND source_internal IS NULL THEN 'ramps'
			            WHEN direction = 'OUTGOING' THEN 'payouts'
			            WHEN source_external IS NULL THEN 'deposits'
			            ELSE 'transfers in' END AS kind, count(*)
			FROM transactions GROUP BY kind`) // ForEachRow returns its error
		var kind string
		var n int64
		_, err := pgx.ForEachRow(rows, []any{&kind, &n}, func() error { counts[kind] = n; return nil })
		return err
	})
	return counts, err
}

// reading is what has been used and counted until a time.
type reading struct {
	at                                   time.Time
	server, postgres, generator, machine time.Duration // processor time
	commits                              int64         // of the service's database, read-only ones included
	writes                               int64         // transactions that wrote or locked something
	walBytes, walSyncs                   int64
}

// read takes a reading. Under load the counters of Postgres are up to a second late, at both
// ends of a measurement.
func (m *meter) read(ctx context.Context) (r reading, err error) {
	if err := m.conn.QueryRow(ctx, `
		SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = $1),
		       pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
		       (pg_current_wal_insert_lsn() - '0/0')::bigint,
		       (SELECT wal_sync FROM pg_stat_wal)`, m.database).
		Scan(&r.commits, &r.writes, &r.walBytes, &r.walSyncs); err != nil {
		return r, fmt.Errorf("read the counters of Postgres: %w", err)
	}
	r.at = time.Now()
	var errs [4]error
	r.server, errs[0] = cpuTime(m.serverPID)
	r.generator, errs[1] = cpuTime(os.Getpid())
	r.postgres, errs[2] = processTreeCPUTime(m.postgresPID)
	r.machine, errs[3] = machineCPUTime()
	return r, errors.Join(errs[:]...)
}

// cost is what one piece of work used between two readings.
type cost struct {
	server, postgres, generator         time.Duration
	otherBusy                           float64 // processors that other programs used
	busy                                float64 // processors that were busy in all
	commits, writes, walSyncs, walBytes float64
}

func costOf(from, to reading, count int) cost {
	seconds := to.at.Sub(from.at).Seconds()
	server, postgres, generator, machine := to.server-from.server, to.postgres-from.postgres, to.generator-from.generator, to.machine-from.machine
	each := func(n int64) float64 { return float64(n) / float64(count) }
	return cost{
		server: time.Duration(each(int64(server))), postgres: time.Duration(each(int64(postgres))), generator: time.Duration(each(int64(generator))),
		otherBusy: max(0, (machine-server-postgres-generator).Seconds()/seconds), busy: machine.Seconds() / seconds,
		commits: each(to.commits - from.commits), writes: each(to.writes - from.writes),
		walSyncs: each(to.walSyncs - from.walSyncs), walBytes: each(to.walBytes - from.walBytes),
	}
}

// clockTick is the unit of processor time in /proc on every Linux that Go supports.
const clockTick = 10 * time.Millisecond

func statOf(pid int) (procfs.ProcStat, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return process.Stat()
}

// cpuTime returns the processor time that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	s, err := statOf(pid)
	return time.Duration(s.UTime+s.STime) * clockTick, err
}

// preciseCPUTime is cpuTime in nanoseconds, for what takes less than a tick.
func preciseCPUTime(pid int) (time.Duration, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	s, err := process.Schedstat()
	if err != nil { // not every kernel has it
		return cpuTime(pid)
	}
	return time.Duration(s.RunningNanoseconds), nil
}

// processTreeCPUTime returns the processor time that a process and its children have used,
// including children that have ended.
func processTreeCPUTime(pid int) (total time.Duration, err error) {
	processes, err := procfs.AllProcs()
	for _, p := range processes {
		s, err := p.Stat()
		if err != nil {
			continue // a child that ends now is counted in the parent the next time
		}
		if p.PID == pid || s.PPID == pid {
			total += time.Duration(s.UTime+s.STime) * clockTick
		}
		if p.PID == pid {
			total += time.Duration(s.CUTime+s.CSTime) * clockTick
		}
	}
	return total, err
}

// machineCPUTime returns the time that all processors have been busy since the machine started.
func machineCPUTime() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	s, err := fs.Stat()
	c := s.CPUTotal
	return time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal) * float64(time.Second)), err
}

// memoryGrowth is the memory of a running process before an operation, and its maximum
// during it.
type memoryGrowth struct{ before, peak byteSize }

func (g memoryGrowth) String() string {
	if g.before == 0 {
		return g.peak.String()
	}
	return g.peak.String() + ", before " + g.before.String()
}

// measureMemoryGrowth runs an operation that a process works on.
func measureMemoryGrowth(pid int, do func() error) (g memoryGrowth, err error) {
	const resetPeak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0); err != nil {
		return g, err
	}
	if g.before, err = peakMemory(pid); err != nil {
		return g, err
	}
	if err := do(); err != nil {
		return g, err
	}
	g.peak, err = peakMemory(pid)
	return g, err
}

func peakMemory(pid int) (byteSize, error) {
	bytes, err := kit.Memory(pid, "VmHWM")
	return byteSize(bytes), err
}

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// diskFolder returns a temporary folder on a disk, because a commit in memory costs nothing.
func diskFolder() (string, error) {
	for _, dir := range []string{os.TempDir(), "/var/tmp"} {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err == nil && s.Type != tmpfsMagic && s.Type != ramfsMagic {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s and /var/tmp are in memory: set TMPDIR to a folder on a disk", os.TempDir())
}

// addConditions adds what the figures were measured on, without host name or path.
func (b *bench) addConditions(postgres string) error {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	cpu, cpuErr := fs.CPUInfo()
	memory, memoryErr := fs.Meminfo()
	synced, syncErr := syncTime(b.env.folder)
	if err := errors.Join(cpuErr, memoryErr, syncErr); err != nil {
		return err
	}
	for _, row := range [][2]string{
		{"Date", time.Now().UTC().Format("2006-01-02 15:04 MST")},
		{"Command", fmt.Sprintf("`go run ./e2e/bench --seconds %d --customers %d --lines %d --entries %d`",
			b.seconds, b.customerCount, b.statementLines, b.ledgerEntries)},
		{"Processor", fmt.Sprintf("%s, %d cores", cpu[0].ModelName, runtime.NumCPU())},
		{"Memory", fmt.Sprintf("%.0f GB", float64(*memory.MemTotal)*1024/1e9)},
		{"Disk", "a synced write of 8 KiB takes " + formatDuration(synced)},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")}, {"Postgres", postgres},
	} {
		b.report.add(conditions, row[0], row[1])
	}
	return nil
}

// syncTime returns how long the disk takes for a synced write, which every commit needs.
func syncTime(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	const pageSize, pages = 8 << 10, 64
	if _, err := file.Write(make([]byte, pages*pageSize)); err != nil {
		return 0, err
	}
	page, next := make([]byte, pageSize), 0
	l, err := timed(200, func() (time.Duration, error) {
		next = (next + 1) % pages
		start := time.Now()
		if _, err := file.WriteAt(page, int64(next)*pageSize); err != nil {
			return 0, err
		}
		err := syscall.Fdatasync(int(file.Fd()))
		return time.Since(start), err
	})
	return l.p50, err
}

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
