package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	"causeway/core/money"
	"causeway/e2e/kit"
)

// measureExports exports the ledger of the run as of one time: with the command in every
// format, and after more postings as CSV over HTTP.
func (b *bench) measureExports(ctx context.Context) {
	b.awaitWebhooks(ctx)
	b.meter.execIn(ctx, b.meter.database, "ANALYZE")
	asOf := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	postings := b.countOwnPostings(ctx)
	add := func(name string, took time.Duration, size int64, memory memoryGrowth) {
		b.report.add(exports, "`"+name+"`", took, byteSize(size), formatRate(postings, took), memory,
			judge(goalExportMemory, memory.peak-memory.before))
	}
	var csvDigest string
	for _, format := range []string{"csv", "hledger", "beancount", "camt053", "log"} {
		path := filepath.Join(b.folder, "ledger."+format)
		args := []string{"ledger", "export", "--platform", b.platform.id.String(), "--format", format, "--file", path}
		if format != "log" {
			args = append(args, "--as-of", asOf)
		}
		result := b.service.command(ctx, args...)
		file := must(os.Open(path))
		size, digest := digestOf(file)
		check(file.Close(), os.Remove(path))
		if format == "csv" {
			csvDigest = digest
		}
		add("causeway ledger export --format "+format, result.Duration, size, memoryGrowth{peak: byteSize(result.PeakMemory)})
	}
	more := phase{name: "ramps, so that the ledger grows", kind: ramps, inFlight: lowConcurrency, duration: time.Second}
	b.runPhase(ctx, more)
	b.earlierPeak = peakMemory(b.service.process.PID())
	var size int64
	var digest string
	var took time.Duration
	memory := measureMemoryGrowth(b.service.process.PID(), func() {
		path, start := "/ledger/export?format=csv&asOf="+url.QueryEscape(asOf), time.Now()
		response, err := b.platform.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: path})
		check(err)
		defer response.Body.Close()
		size, digest = digestOf(response.Body)
		took = time.Since(start)
		if response.StatusCode != http.StatusOK {
			failf("GET %s: %s", path, response.Status)
		}
	})
	if digest != csvDigest {
		failf("two exports of the ledger as of %s differ", asOf)
	}
	add("GET /ledger/export?format=csv", took, size, memory)
}

func digestOf(file io.Reader) (size int64, digest string) {
	hash := sha256.New()
	size = must(io.Copy(hash, file))
	return size, hex.EncodeToString(hash.Sum(nil))
}

// measureStatements makes many payments into one account, and reads statements of it.
func (p *pastMonth) measureStatements(ctx context.Context) {
	const movements = 1_000
	logf("paying %d times into one account", movements)
	owner := p.full.create(ctx, "/customers", kit.CustomerBody())
	account, _ := p.full.account(ctx, owner, money.USD)
	forEach(ctx, movements, func(ctx context.Context, i int) { p.full.fund(ctx, account, int64(100+i)) })
	complete := map[string]func(file []byte) bool{
		"html": func(file []byte) bool { return bytes.Count(file, []byte("<tr")) > movements },
		"pdf":  func(file []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF")) },
	}
	for _, format := range []string{"html", "pdf"} {
		var file []byte
		l := timed(50, func() time.Duration {
			response := p.full.get(ctx, "/customers/"+owner+"/statement?currency=USD&format="+format)
			if file = response.Body; !complete[format](file) {
				failf("the %s statement is not complete", format)
			}
			return response.Duration
		})
		p.report.add(customerStatements, format, l, byteSize(len(file)))
	}
}

func (p *pastMonth) addProof(name string, took time.Duration, memory byteSize) {
	p.report.add(ledgerLog, name, took, formatRate(int64(len(p.postings)), took), memory)
}

// measureProof verifies the ledger in the database and in an export, and reads proofs.
func (p *pastMonth) measureProof(ctx context.Context) {
	p.addProof("Sealed by the service", p.sealedIn, peakMemory(p.process.PID()))
	const sizeSQL = "SELECT pg_total_relation_size('ledger_log_tiles')::float8"
	size := queryIn[struct{ Bytes float64 }](ctx, p.meter, pastMonthDatabase, sizeSQL)
	p.report.add(ledgerLog, "Bytes for each posting in the log's tiles and their index",
		fmt.Sprintf("%.1f", size[0].Bytes/float64(len(p.postings))))
	path := filepath.Join(p.folder, "ledger.log")
	defer os.Remove(path)
	trusted := []string{"--checkpoints", filepath.Join(p.folder, pastMonthDatabase), "--key", p.verifierKey}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"`causeway ledger verify`, on the database in use", append([]string{"ledger", "verify"}, trusted...)},
		{"`causeway ledger export --format log`",
			[]string{"ledger", "export", "--format", "log", "--platform", p.full.id.String(), "--file", path}},
		{"`causeway ledger verify --export`, without a database",
			append([]string{"ledger", "verify", "--export", path}, trusted...)},
	} {
		result := p.command(ctx, c.args...)
		p.addProof(c.name, result.Duration, byteSize(result.PeakMemory))
	}
	l := timed(2_000, func() time.Duration {
		posting := p.postings[rand.IntN(len(p.postings))].ID
		response := p.full.get(ctx, "/ledger/log/proof?postingId=Posting:"+posting.String())
		check(checkInclusion(response.Body))
		return response.Duration
	})
	p.report.add(ledgerLog, "`GET /ledger/log/proof`, 2000 times, "+latencyColumn, l)
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
