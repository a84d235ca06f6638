package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// goalExportMemory is for the memory that an export adds, whatever the size of the ledger.
const goalExportMemory = byteSize(64_000_000)

// measureExports exports the ledger of the run as of one time: with the command in every
// format, and after more postings as CSV over HTTP.
func (b *bench) measureExports(ctx context.Context) error {
	if err := b.awaitWebhooks(ctx); err != nil {
		return err
	}
	if err := b.env.meter.execIn(ctx, b.env.meter.database, "ANALYZE"); err != nil {
		return err
	}
	asOf := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	postings, err := b.env.meter.countPostings(ctx)
	if err != nil {
		return err
	}
	add := func(name string, took time.Duration, size int64, memory memoryGrowth) {
		logf("%s: %s, %s", name, formatDuration(took), memory)
		b.report.add(exportSection, "`"+name+"`", took, byteSize(size), formatRate(postings, took), memory, goal("under "+goalExportMemory.String(), memory.peak-memory.before < goalExportMemory))
	}
	var csvDigest string
	for _, format := range []string{"csv", "hledger", "beancount", "camt053", "log"} {
		path := filepath.Join(b.env.folder, "ledger."+format)
		args := []string{"ledger", "export", "--format", format, "--output", path}
		if format != "log" {
			args = append(args, "--as-of", asOf)
		}
		result, err := b.env.service.command(ctx, args...)
		if err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		size, digest, err := digestOf(file)
		if err := errors.Join(err, file.Close(), os.Remove(path)); err != nil {
			return err
		}
		if format == "csv" {
			csvDigest = digest
		}
		add("causeway ledger export --format "+format, result.Duration, size, memoryGrowth{peak: byteSize(result.PeakMemory)})
	}
	if _, err := b.runPhase(ctx, phase{name: "ramps, so that the ledger grows", inFlight: lowConcurrency, duration: time.Second}); err != nil {
		return err
	}
	if b.peakBeforeReset, err = peakMemory(b.env.service.process.PID()); err != nil {
		return err
	}
	var size int64
	var digest string
	var took time.Duration
	memory, err := measureMemoryGrowth(b.env.service.process.PID(), func() (err error) {
		size, digest, took, err = b.env.target.download(ctx, "/ledger/export?format=csv&asOf="+url.QueryEscape(asOf), io.Discard)
		return err
	})
	if err != nil {
		return err
	}
	if digest != csvDigest {
		return errors.New("two exports of the ledger as of " + asOf + " differ")
	}
	add("GET /ledger/export?format=csv", took, size, memory)
	return nil
}

func digestOf(from io.Reader) (size int64, digest string, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, from)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// download streams a response to a writer, and measures it.
func (t target) download(ctx context.Context, path string, to io.Writer) (size int64, digest string, took time.Duration, err error) {
	start := time.Now()
	response, err := t.api.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return 0, "", 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, "", 0, fmt.Errorf("GET %s: %s", path, response.Status)
	}
	size, digest, err = digestOf(io.TeeReader(response.Body, to))
	return size, digest, time.Since(start), err
}

// measureStatements makes many payments into one account, and reads statements of it.
func (p *closedPeriodEnv) measureStatements(ctx context.Context) error {
	const movements = 1_000
	logf("paying %d times into one account", movements)
	t := p.monthTenant.target
	owner, err := t.create(ctx, "/customers", kit.CustomerBody())
	if err != nil {
		return err
	}
	accounts, err := t.usdAccounts(ctx)
	if err != nil {
		return err
	}
	if err := forEach(ctx, movements, func(ctx context.Context, i int) error { return t.fund(ctx, accounts[owner].ID, int64(100+i)) }); err != nil {
		return err
	}
	for _, format := range []string{"html", "pdf"} {
		var size int64
		l, err := timed(50, func() (took time.Duration, err error) {
			var file bytes.Buffer
			size, _, took, err = t.download(ctx, "/customers/"+owner+"/statement?currency=USD&format="+format, &file)
			complete := bytes.HasSuffix(bytes.TrimSpace(file.Bytes()), []byte("%%EOF"))
			if format == "html" {
				complete = bytes.Count(file.Bytes(), []byte("<tr")) > movements
			}
			if err == nil && !complete {
				err = errors.New("the " + format + " statement is not complete")
			}
			return took, err
		})
		if err != nil {
			return err
		}
		logf("%s statement: %s ms", format, l)
		p.report.add(statements, format, l, byteSize(size))
	}
	return nil
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
	root := tlog.Hash{}
	copy(root[:], proof.Checkpoint.RootHash)
	path := make(tlog.RecordProof, len(proof.Hashes))
	for i, hash := range proof.Hashes {
		copy(path[i][:], hash)
	}
	return tlog.CheckRecord(path, proof.Checkpoint.Size, root, proof.LeafIndex, tlog.RecordHash(proof.Leaf))
}
