package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"

	"causeway/adapters/pgembed"
	"causeway/e2e/kit"
)

// meter reads what the run costs: processor time by process, and the counters of Postgres.
// Its connection is to another database, so that none of the commits it counts is its own.
type meter struct {
	conn                    *pgx.Conn
	database, superuserURL  string
	servicePID, postgresPID int
}

func newMeter(ctx context.Context, postgres *pgembed.Server, servicePID int) *meter {
	database := must(pgx.ParseConfig(postgres.URL())).Database
	m := &meter{servicePID: servicePID, superuserURL: postgres.SuperuserURL(), database: database}
	m.conn = must(pgx.Connect(ctx, m.superuserURL))
	m.postgresPID = statOf(int(m.conn.PgConn().PID())).PPID
	return m
}

// exec executes statements on the server, such as CHECKPOINT.
func (m *meter) exec(ctx context.Context, statements string) {
	must(m.conn.PgConn().Exec(ctx, statements).ReadAll())
}

// execIn executes a statement in a database, such as VACUUM or ANALYZE.
func (m *meter) execIn(ctx context.Context, database, statement string) {
	queryIn[struct{}](ctx, m, database, statement)
}

// scriptIn runs statements in a database, in one session.
func (m *meter) scriptIn(ctx context.Context, database, statements string) {
	settings := must(pgx.ParseConfig(m.superuserURL))
	settings.Database = database
	conn := must(pgx.ConnectConfig(ctx, settings))
	defer conn.Close(context.WithoutCancel(ctx))
	must(conn.Exec(ctx, statements))
}

// queryIn reads rows from a database. That makes a commit, which is counted, so it is not for use
// during a measurement.
func queryIn[T any](ctx context.Context, m *meter, database, query string, args ...any) []T {
	settings := must(pgx.ParseConfig(m.superuserURL))
	settings.Database = database
	conn := must(pgx.ConnectConfig(ctx, settings))
	defer conn.Close(context.WithoutCancel(ctx))
	rows, _ := conn.Query(ctx, query, args...) // CollectRows returns its error
	return must(pgx.CollectRows(rows, pgx.RowToStructByPos[T]))
}

// The figures of a reading.
const (
	serviceTime   = iota // processor time, in seconds
	postgresTime         // of all its processes
	generatorTime        // of this process
	machineTime          // of all processes
	commits              // of the service's database, read-only ones included
	writes               // transactions that wrote or locked something
	walBytes
	walSyncs
	statementCalls // sent to its database, while they are counted
	figureCount
)

// reading is what has been used and counted until a time.
type reading struct {
	at      time.Time
	figures [figureCount]float64
}

// read takes a reading. Under load the counters of Postgres are up to a second late, at both ends of a measurement.
func (m *meter) read(ctx context.Context) (r reading) {
	check(m.conn.QueryRow(ctx, `
		SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = $1)::float8,
		       pg_snapshot_xmax(pg_current_snapshot())::text::float8,
		       (pg_current_wal_insert_lsn() - '0/0')::float8,
		       (SELECT wal_sync FROM pg_stat_wal)::float8,
		       (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid WHERE datname = $1)::float8`,
		m.database).
		Scan(&r.figures[commits], &r.figures[writes], &r.figures[walBytes], &r.figures[walSyncs], &r.figures[statementCalls]))
	r.at = time.Now()
	r.figures[serviceTime], r.figures[generatorTime] = statOf(m.servicePID).CPUTime(), statOf(os.Getpid()).CPUTime()
	r.figures[postgresTime] = processTreeCPUSeconds(m.postgresPID)
	total := must(must(procfs.NewDefaultFS()).Stat()).CPUTotal
	r.figures[machineTime] = total.User + total.Nice + total.System + total.IRQ + total.SoftIRQ + total.Steal
	return r
}

// cost is what one piece of work used between two readings.
type cost struct {
	each            [figureCount]float64
	busy, otherBusy float64 // processors that were busy in all, and those that other programs used
}

func costOf(from, to reading, count int) (c cost) {
	seconds := to.at.Sub(from.at).Seconds()
	used := to.figures
	for i := range used {
		used[i] -= from.figures[i]
		c.each[i] = used[i] / float64(count)
	}
	c.busy = used[machineTime] / seconds
	c.otherBusy = max(0, (used[machineTime]-used[serviceTime]-used[postgresTime]-used[generatorTime])/seconds)
	return c
}

// processorTimes returns those of the service, Postgres and the load generator.
func (c cost) processorTimes() []string {
	var texts []string
	for _, seconds := range c.each[serviceTime : generatorTime+1] {
		texts = append(texts, fmt.Sprintf("%.0f µs", seconds*1e6))
	}
	return texts
}

func statOf(pid int) procfs.ProcStat { return must(must(procfs.NewProc(pid)).Stat()) }

// backendCPUTime is the processor time of a process with one thread, for what takes less than
// the hundredth of a second that cpuSeconds is in.
func backendCPUTime(pid int) time.Duration {
	s, err := must(procfs.NewProc(pid)).Schedstat()
	if err != nil { // not every kernel has it
		return time.Duration(statOf(pid).CPUTime() * float64(time.Second))
	}
	return time.Duration(s.RunningNanoseconds)
}

// processTreeCPUSeconds returns the processor time that a process and its children have used,
// including children that have ended.
func processTreeCPUSeconds(pid int) (total float64) {
	for _, p := range must(procfs.AllProcs()) {
		s, err := p.Stat()
		if err != nil {
			continue // a child that ends now is counted in the parent the next time
		}
		if p.PID == pid || s.PPID == pid {
			total += s.CPUTime()
		}
		if p.PID == pid {
			total += float64(s.CUTime+s.CSTime) / 100
		}
	}
	return total
}

// memoryGrowth is the memory of its own that a running process had before an operation, and its maximum during it.
type memoryGrowth struct{ before, peak byteSize }

func (g memoryGrowth) String() string {
	if g.before == 0 {
		return g.peak.String()
	}
	return g.peak.String() + ", before " + g.before.String()
}

// measureMemoryGrowth runs an operation that a process works on.
func measureMemoryGrowth(pid int, do func()) (g memoryGrowth) {
	const resetPeak = "5"
	check(os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0))
	g.before = peakMemory(pid)
	do()
	g.peak = peakMemory(pid)
	return g
}

func peakMemory(pid int) byteSize { return byteSize(must(kit.OwnPeakMemory(pid))) }
