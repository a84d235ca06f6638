package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"causeway/adapters/apiclient"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/period"
	"causeway/core/reconcile"
	"causeway/e2e/kit"
	"causeway/ledger"
	"causeway/ports"
)

// closedPeriodEnv is a second service on a database of its own, with the ledger of a past
// month: the postings of the run are in the current month, which cannot be closed.
type closedPeriodEnv struct {
	*service
	*bench
	checkpointsDir string
	store          *postgres.DB
	ids            *ids.Generator
	month          period.Month
	monthTenant    tenant // has the postings of the month
	closedTenant   tenant // has the month closed, to make postings to
	openTenant     tenant // has no month closed, to make postings to
	postingIDs     []uuid.UUID
	statements     [2]statementFixture
	verifierKey    string
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

const closedPeriodDatabase = "closed_periods"

// measureClosedPeriods measures what needs the ledger of a past month.
func (b *bench) measureClosedPeriods(ctx context.Context) error {
	logf("making the ledger of a past month, for statements of %d lines", b.statementLines)
	p, err := b.createClosedPeriodEnv(ctx)
	if err != nil {
		return err
	}
	defer p.store.Close()
	if err := errors.Join(p.measureParts(ctx), p.stop()); err != nil {
		return fmt.Errorf("%w\n%s", err, p.lastOutput())
	}
	return nil
}

func (p *closedPeriodEnv) measureParts(ctx context.Context) error {
	if err := p.env.meter.execIn(ctx, closedPeriodDatabase, "ANALYZE"); err != nil {
		return err
	}
	if err := p.measureSealing(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"proof", p.measureProof}, {"reconciliation", p.measureReconciliation}, {"statements", p.measureStatements}, {"months", p.measureMonthEnd}} {
		if !p.includes(part.name) {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// createClosedPeriodEnv creates the database, its platforms and the postings of the month.
func (b *bench) createClosedPeriodEnv(ctx context.Context) (*closedPeriodEnv, error) {
	database, err := b.env.createDatabase(ctx, closedPeriodDatabase)
	if err != nil {
		return nil, err
	}
	p := &closedPeriodEnv{bench: b, checkpointsDir: filepath.Join(b.env.folder, "checkpoints"), ids: ids.New(), month: period.MonthOf(time.Now()).Previous()}
	// It seals when it starts, and not during other measurements.
	if p.service, err = newService(ctx, b.binary, database, "CAUSEWAY_SEAL_EVERY=1h", "CAUSEWAY_CHECKPOINTS="+p.checkpointsDir); err != nil {
		return nil, err
	}
	// The rows of the last platform are at the end of every index, where writing costs less:
	// it is not one of the two that are compared.
	for _, t := range []*tenant{&p.closedTenant, &p.openTenant, &p.monthTenant} {
		if *t, err = p.createPlatform(ctx); err != nil {
			return nil, err
		}
	}
	if p.store, err = postgres.Open(ctx, postgres.Options{URL: database, MaxConnections: 4, Clock: wallClock{}, IDs: p.ids}); err != nil {
		return nil, err
	}
	if err := p.createPostings(ctx, b.statementLines); err != nil {
		p.store.Close()
		return nil, err
	}
	return p, nil
}

// createPostings writes a week at each of two partners with statements of so many lines, and
// as many conversions.
func (p *closedPeriodEnv) createPostings(ctx context.Context, lines int) error {
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.monthTenant.id, Effective: effective, Memo: memo}
	}
	monday := p.month.Start().AddDate(0, 0, 7)
	p.statements = [2]statementFixture{newStatementFixture("RTP", monday, lines, header), newStatementFixture("ACH", monday, lines, header)}
	all := slices.Concat(p.statements[0].postings, p.statements[1].postings, conversions(2*lines, p.month.Start(), header))
	for batch := range slices.Chunk(all, 2_000) {
		if err := p.commit(ctx, batch); err != nil {
			return err
		}
	}
	for _, posting := range all {
		p.postingIDs = append(p.postingIDs, posting.ID)
	}
	return nil
}

// commit writes postings in one commit.
func (p *closedPeriodEnv) commit(ctx context.Context, postings []ledger.Posting) error {
	return p.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) })
}

// commitNew writes postings of the current month in one commit.
func (p *closedPeriodEnv) commitNew(ctx context.Context, t tenant, n int) error {
	now := time.Now()
	postings := make([]ledger.Posting, n)
	for i := range postings {
		postings[i] = ledger.JITReceived(ledger.Header{ID: p.ids.New(now), Platform: t.id, Effective: now}, ledger.Rail("RTP"), usd(100))
	}
	return p.commit(ctx, postings)
}

// measureSealing starts the service on a ledger of which nothing is sealed, and waits until
// all is sealed and published.
func (p *closedPeriodEnv) measureSealing(ctx context.Context) error {
	began := time.Now()
	if err := p.start(ctx); err != nil {
		return err
	}
	var err error
	if p.verifierKey, err = p.monthTenant.awaitSealed(ctx, true); err != nil {
		return err
	}
	took := time.Since(began)
	peak, err := peakMemory(p.process.PID())
	logf("sealed in %s, %s", formatDuration(took), peak)
	if p.includes("proof") {
		p.addProof("Sealed by the service", took, peak)
	}
	return err
}

func (p *closedPeriodEnv) addProof(name string, took time.Duration, memory byteSize) {
	p.report.add(proofSection, name, took, formatRate(int64(len(p.postingIDs)), took), memory)
}

// measureProof verifies the ledger in the database and in an export, and reads proofs.
func (p *closedPeriodEnv) measureProof(ctx context.Context) error {
	var size int64
	if err := p.env.meter.queryIn(ctx, closedPeriodDatabase, "SELECT pg_total_relation_size('ledger_log_tiles')", &size); err != nil {
		return err
	}
	p.report.add(proofSection, "Bytes for each posting in the log's tiles and their index", fmt.Sprintf("%.1f", float64(size)/float64(len(p.postingIDs))))
	path := filepath.Join(p.env.folder, "ledger.log")
	defer os.Remove(path)
	trusted := []string{"--checkpoints", p.checkpointsDir, "--key", p.verifierKey}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"`causeway ledger verify`, on the database in use", append([]string{"ledger", "verify"}, trusted...)},
		{"`causeway ledger export --format log`", []string{"ledger", "export", "--format", "log", "--platform", p.monthTenant.id.String(), "--output", path}},
		{"`causeway ledger verify --export`, without a database", append([]string{"ledger", "verify", "--export", path}, trusted...)},
	} {
		result, err := p.command(ctx, c.args...)
		if err != nil {
			return err
		}
		logf("%s: %s, %s", c.name, formatDuration(result.Duration), byteSize(result.PeakMemory))
		p.addProof(c.name, result.Duration, byteSize(result.PeakMemory))
	}
	c, err := dial(ctx, p.address)
	if err != nil {
		return err
	}
	defer c.close()
	l, err := timed(2_000, func() (time.Duration, error) {
		posting := p.postingIDs[rand.IntN(len(p.postingIDs))]
		body, took, err := c.get(p.monthTenant.target, "/ledger/log/proof?postingId=Posting:"+posting.String())
		if err == nil {
			err = checkInclusion(body)
		}
		return took, err
	})
	p.report.add(proofSection, "`GET /ledger/log/proof`, 2000 times, "+latencyColumn, l)
	return err
}

// checkInclusion checks a proof against the root of its checkpoint.
func checkInclusion(body []byte) error {
	var proof struct {
		LeafIndex  int64
		Leaf       []byte
		Hashes     [][]byte
		Checkpoint struct {
			Size     int64
			RootHash []byte
		}
	}
	if err := json.Unmarshal(body, &proof); err != nil {
		return err
	}
	if len(proof.Checkpoint.RootHash) != tlog.HashSize {
		return fmt.Errorf("a root of %d bytes", len(proof.Checkpoint.RootHash))
	}
	path := make(tlog.RecordProof, len(proof.Hashes))
	for i, hash := range proof.Hashes {
		copy(path[i][:], hash)
	}
	return tlog.CheckRecord(path, proof.Checkpoint.Size, tlog.Hash(proof.Checkpoint.RootHash), proof.LeafIndex, tlog.RecordHash(proof.Leaf))
}

// goalReconciliation is for a statement of 100,000 lines.
const goalReconciliation = 30 * time.Second

// reconciliation is the response to an import.
type reconciliation struct {
	ID                  string
	Lines, MatchedLines int
	Breaks              []struct {
		Reason reconcile.Reason
		Count  int
	}
}

// measureReconciliation imports the statements of both partners, each twice.
func (p *closedPeriodEnv) measureReconciliation(ctx context.Context) error {
	for i, statement := range []struct {
		format, contentType, query string
		file                       []byte
	}{{"camt053", "application/xml", "", p.statements[0].camt053()}, {"csv", "text/csv", "&map=" + url.QueryEscape(csvColumnMap), p.statements[1].csv()}} {
		path := "/ledger/reconciliations?account=" + url.QueryEscape("rails/"+p.statements[i].rail) + "&currency=USD&format=" + statement.format + statement.query
		send := func(want int) (r reconciliation, took time.Duration, err error) {
			response, err := p.monthTenant.api.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: path, Body: statement.file, ContentType: statement.contentType})
			if err != nil {
				return r, 0, err
			}
			if response.Status != want {
				return r, 0, newUnexpectedStatus("POST "+path, response.Status, response.Body)
			}
			return r, response.Duration, json.Unmarshal(response.Body, &r)
		}
		if err := p.start(ctx); err != nil { // again, so that its memory is that at rest
			return err
		}
		var first reconciliation
		var took time.Duration
		memory, err := measureMemoryGrowth(p.process.PID(), func() (err error) {
			first, took, err = send(http.StatusCreated)
			return err
		})
		if err != nil {
			return err
		}
		breaks, err := first.check(&p.statements[i])
		if err != nil {
			return fmt.Errorf("%s: %w", statement.format, err)
		}
		second, again, err := send(http.StatusOK)
		if err != nil {
			return err
		}
		if second.ID != first.ID {
			return fmt.Errorf("%s: the same file again made %s; the first made %s", statement.format, second.ID, first.ID)
		}
		logf("reconcile %d lines of %s: %s, %s; again %s", first.Lines, statement.format, formatDuration(took), memory, formatDuration(again))
		p.report.add(reconciliations, statement.format, first.Lines, byteSize(len(statement.file)), first.MatchedLines, breaks, took, formatRate(int64(first.Lines), took), memory, again,
			goal(fmt.Sprintf("under %s for 100000 lines", goalReconciliation), took.Seconds()/float64(first.Lines) < goalReconciliation.Seconds()/100_000))
	}
	var list struct{ TotalCount int }
	if err := p.monthTenant.api.Call(ctx, "GET", "/ledger/reconciliations", nil, &list); err != nil {
		return err
	}
	if list.TotalCount != len(p.statements) {
		return fmt.Errorf("there are %d reconciliations; want %d", list.TotalCount, len(p.statements))
	}
	return nil
}

// check compares the breaks with those that the statement was made with, and counts them.
func (r reconciliation) check(w *statementFixture) (breaks int, err error) {
	found := map[reconcile.Reason]int{}
	for _, b := range r.Breaks {
		found[b.Reason] = b.Count
		breaks += b.Count
	}
	if r.Lines != len(w.lines) || !maps.Equal(found, w.breaks) {
		return breaks, fmt.Errorf("%d lines with the breaks %v; want %d with %v", r.Lines, found, len(w.lines), w.breaks)
	}
	return breaks, nil
}

// measureStatements makes many payments into one account, and reads statements of it.
func (p *closedPeriodEnv) measureStatements(ctx context.Context) error {
	const movements = 1_000
	logf("paying %d times into one account", movements)
	e := benchEnv{target: p.monthTenant.target}
	owner, err := e.createCustomer(ctx)
	if err != nil {
		return err
	}
	accounts, err := e.usdAccounts(ctx)
	if err != nil {
		return err
	}
	err = forEach(ctx, movements, func(ctx context.Context, i int) error {
		return e.target.api.Call(ctx, "POST", "/sandbox/internal-accounts/"+accounts[0].ID+"/fund", kit.Object{"amount": 100 + i}, nil)
	})
	if err != nil {
		return err
	}
	for _, s := range []struct {
		format   string
		complete func([]byte) bool
	}{
		{"html", func(page []byte) bool { return bytes.Count(page, []byte("<tr")) > movements }},
		{"pdf", func(file []byte) bool {
			return bytes.HasPrefix(file, []byte("%PDF-")) && bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF"))
		}},
	} {
		var size int64
		l, err := timed(50, func() (took time.Duration, err error) {
			var file bytes.Buffer
			size, _, took, err = e.target.download(ctx, "/customers/"+owner.id+"/statement?currency=USD&format="+s.format, &file)
			if err == nil && !s.complete(file.Bytes()) {
				err = errors.New("the " + s.format + " statement is not complete")
			}
			return took, err
		})
		if err != nil {
			return err
		}
		logf("%s statement: %s ms", s.format, l)
		p.report.add(statements, s.format, l, byteSize(size))
	}
	return nil
}

// measureMonthEnd compares postings with and without a closed month, and then closes the
// month that has all postings.
func (p *closedPeriodEnv) measureMonthEnd(ctx context.Context) error {
	for _, t := range []tenant{p.openTenant, p.closedTenant} {
		if err := p.commitNew(ctx, t, 100); err != nil {
			return err
		}
	}
	for _, action := range []string{"soft-close", "close"} {
		if _, err := p.changePeriod(ctx, p.closedTenant, action); err != nil {
			return err
		}
	}
	rate := func(t tenant) func() (float64, error) {
		return func() (float64, error) {
			began, n := time.Now(), 0
			for ; time.Since(began) < 300*time.Millisecond; n += 100 {
				if err := p.commitNew(ctx, t, 100); err != nil {
					return 0, err
				}
			}
			return float64(n) / time.Since(began).Seconds(), nil
		}
	}
	rates, err := alternate(10, rate(p.openTenant), rate(p.closedTenant))
	if err != nil {
		return err
	}
	if err := p.closeMonth(ctx); err != nil {
		return err
	}
	p.report.add(monthEnd, "Postings/s, no month closed", formatSpread(rates[0]))
	p.report.add(monthEnd, "Postings/s, a month closed", formatSpread(rates[1]))
	p.report.add(monthEnd, "Closed to not closed, medians", fmt.Sprintf("%.2f", median(rates[1])/median(rates[0])))
	return nil
}

// closeMonth closes the month while postings are made one by one.
func (p *closedPeriodEnv) closeMonth(ctx context.Context) error {
	if err := p.commitNew(ctx, p.monthTenant, 1); err != nil { // warm-up
		return err
	}
	var mu sync.Mutex
	var durations []time.Duration
	take := func() latency {
		mu.Lock()
		defer mu.Unlock()
		l := latencyOf(durations)
		durations = nil
		return l
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			began := time.Now()
			if err := p.commitNew(ctx, p.monthTenant, 1); err != nil {
				ended <- err
				return
			}
			mu.Lock()
			durations = append(durations, time.Since(began))
			mu.Unlock()
		}
	}()
	err := sleep(ctx, time.Second)
	before := take()
	var took [2]time.Duration
	for i, action := range []string{"soft-close", "close"} {
		if err == nil {
			took[i], err = p.changePeriod(ctx, p.monthTenant, action)
		}
	}
	during := take()
	close(stop)
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/soft-close`", took[0])
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/close`", took[1])
	p.report.add(monthEnd, "Postings in the ledger, all of that month", len(p.postingIDs))
	p.report.add(monthEnd, "One posting before, "+latencyColumn+" and maximum", before.String()+", "+formatMillis(before.max))
	p.report.add(monthEnd, "One posting meanwhile", during.String()+", "+formatMillis(during.max))
	logf("soft-close %s, close %s; postings meanwhile %s ms", formatDuration(took[0]), formatDuration(took[1]), during)
	return nil
}

func (p *closedPeriodEnv) changePeriod(ctx context.Context, t tenant, action string) (time.Duration, error) {
	began := time.Now()
	err := t.api.Call(ctx, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(began), err
}
