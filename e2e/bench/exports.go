package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// exportResults is what it takes to bring the books out.
type exportResults struct {
	postings  int64
	files     []exportResult
	identical bool // the two sheets are equal to the byte
}

// exportResult is one export of the whole of the books.
type exportResult struct {
	name     string
	bytes    int64
	duration time.Duration
	memory   memoryGrowth // of the command, which begins with none, or of the service
}

var exportFormats = []string{"csv", "hledger", "beancount", "camt053", "log"}

// goalExportMemory is for the memory that an export adds, in bytes, however large the books.
const goalExportMemory = 64_000_000

// measureExports exports the books of the run as of one moment: by the command in every
// format, and when more has been posted as a sheet over HTTP.
func (b *bench) measureExports(ctx context.Context) error {
	if err := b.awaitWebhooks(ctx); err != nil {
		return err
	}
	if err := b.env.meter.analyze(ctx); err != nil {
		return err
	}
	moment := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	e := exportResults{}
	var err error
	if e.postings, err = b.env.meter.countPostings(ctx); err != nil {
		return err
	}
	var sheet [sha256.Size]byte
	for _, format := range exportFormats {
		file, digest, err := b.runExport(ctx, format, moment)
		if err != nil {
			return err
		}
		logf("export as %s: %s, %s", format, formatDuration(file.duration), formatMB(file.memory.peak))
		e.files = append(e.files, file)
		if format == "csv" {
			sheet = digest
		}
	}
	if _, err := b.runPhase(ctx, phase{name: "ramps, so that the books grow", inFlight: lowConcurrency, duration: time.Second}); err != nil {
		return err
	}
	again, digest, err := b.exportOverHTTP(ctx, moment)
	if err != nil {
		return err
	}
	if e.identical = digest == sheet; !e.identical {
		return errors.New("two exports of the books as of " + moment + " differ")
	}
	e.files = append(e.files, again)
	b.results.exportResults = e
	return nil
}

// runExport has the command write a file, and takes the file away again.
func (b *bench) runExport(ctx context.Context, format, moment string) (e exportResult, digest [sha256.Size]byte, err error) {
	path := filepath.Join(b.env.folder, "books."+format)
	args := []string{"ledger", "export", "--format", format, "--output", path}
	if format != "log" {
		args = append(args, "--as-of", moment)
	}
	done, err := runMeasured(ctx, []string{"DATABASE_URL=" + b.env.postgres.URL()}, b.binary, args...)
	if err != nil {
		return e, digest, err
	}
	e = exportResult{name: "`causeway ledger export --format " + format + "`", duration: done.duration, memory: memoryGrowth{peak: done.peakMemory}}
	e.bytes, digest, err = fileDigest(path)
	return e, digest, errors.Join(err, os.Remove(path))
}

func fileDigest(path string) (size int64, digest [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, digest, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return size, [sha256.Size]byte(hash.Sum(nil)), err
}

func (b *bench) exportOverHTTP(ctx context.Context, moment string) (e exportResult, digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	if b.peakBeforeReset, err = memory(b.env.service.pid(), "VmHWM"); err != nil {
		return e, digest, err
	}
	var d streamResult
	e.memory, err = measureMemoryGrowth(b.env.service.pid(), func() (err error) {
		d, err = b.env.target.stream(ctx, "/ledger/export?format=csv&asOf="+url.QueryEscape(moment), hash)
		return err
	})
	e.name, e.bytes, e.duration = "`GET /ledger/export?format=csv`", d.bytes, d.duration
	return e, [sha256.Size]byte(hash.Sum(nil)), err
}

func (r results) exportsSection() section {
	s := section{
		title: "Exports",
		prose: []string{
			fmt.Sprintf("Everything that the run had posted, %d postings, as of one moment, on the disk. Memory: of the command, and over HTTP of the service, at its largest; "+
				"it is bounded, and so does not grow with the books. A camt.053 file has every entry that is not of crypto currencies twice, in the statements of both accounts. "+
				"The sheet over HTTP was fetched when more had been posted, and is equal to the first one to the byte (SHA-256).", r.exportResults.postings),
		},
		columns: []string{"Export", "Time", "File", "Postings/s", "Memory", "Goal for memory"},
	}
	for _, f := range r.exportResults.files {
		memory := formatMB(f.memory.peak)
		if f.memory.before > 0 {
			memory = f.memory.String()
		}
		s.rows = append(s.rows, []string{f.name, formatDuration(f.duration), formatMB(f.bytes), formatRate(r.exportResults.postings, f.duration), memory,
			"bounded, here by " + formatMB(goalExportMemory) + ": " + metOrMissed(f.memory.peak-f.memory.before < goalExportMemory)})
	}
	return s
}
