package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"causeway/adapters/apiclient"
)

// measureExports exports the ledger of the run as of one time: with the command in every
// format, and after more postings as CSV over HTTP.
func (b *bench) measureExports(ctx context.Context) {
	b.awaitWebhooks(ctx)
	b.meter.execIn(ctx, b.meter.database, "ANALYZE")
	asOf := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	postings := b.countPostings(ctx)
	add := func(name string, took time.Duration, size int64, memory memoryGrowth) {
		b.report.add(exports, "`"+name+"`", took, byteSize(size), formatRate(postings, took), memory,
			judge(goalExportMemory, memory.peak-memory.before))
	}
	var csvDigest string
	for _, format := range []string{"csv", "hledger", "beancount", "camt053", "log"} {
		path := filepath.Join(b.folder, "ledger."+format)
		args := []string{"ledger", "export", "--format", format, "--output", path}
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
	b.runPhase(ctx, phase{name: "ramps, so that the ledger grows", kind: ramps, inFlight: lowConcurrency, duration: time.Second})
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
