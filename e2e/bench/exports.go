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

// exporting is what it takes to bring the books out.
type exporting struct {
	postings int64
	files    []exported
	alike    bool // the two sheets are equal to the byte
}

// exported is one export of the whole of the books.
type exported struct {
	name   string
	bytes  int64
	took   time.Duration
	memory grown // of the command, which begins with none, or of the service
}

var exportFormats = []string{"csv", "hledger", "beancount", "camt053", "log"}

// goalExport is for the memory that an export adds, in bytes, however large the books.
const goalExport = 64_000_000

// measureExports exports the books of the run as of one moment: by the command in every
// format, and when more has been posted as a sheet over HTTP.
func (b *bench) measureExports(ctx context.Context) error {
	if err := b.drain(ctx); err != nil {
		return err
	}
	if err := b.rig.meter.analyze(ctx); err != nil {
		return err
	}
	moment := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	e := exporting{}
	var err error
	if e.postings, err = b.rig.meter.postings(ctx); err != nil {
		return err
	}
	var sheet [sha256.Size]byte
	for _, format := range exportFormats {
		file, digest, err := b.export(ctx, format, moment)
		if err != nil {
			return err
		}
		say("export as %s: %s, %s", format, lasting(file.took), megabytes(file.memory.peak))
		e.files = append(e.files, file)
		if format == "csv" {
			sheet = digest
		}
	}
	if _, err := b.step(ctx, phase{name: "ramps, so that the books grow", inFlight: fewUnderWay, measured: time.Second}); err != nil {
		return err
	}
	again, digest, err := b.exportOverHTTP(ctx, moment)
	if err != nil {
		return err
	}
	if e.alike = digest == sheet; !e.alike {
		return errors.New("two exports of the books as of " + moment + " differ")
	}
	e.files = append(e.files, again)
	b.results.exporting = e
	return nil
}

// export has the command write a file, and takes the file away again.
func (b *bench) export(ctx context.Context, format, moment string) (e exported, digest [sha256.Size]byte, err error) {
	path := filepath.Join(b.rig.folder, "books."+format)
	args := []string{"ledger", "export", "--format", format, "--output", path}
	if format != "log" {
		args = append(args, "--as-of", moment)
	}
	done, err := perform(ctx, []string{"DATABASE_URL=" + b.rig.postgres.URL()}, b.binary, args...)
	if err != nil {
		return e, digest, err
	}
	e = exported{name: "`causeway ledger export --format " + format + "`", took: done.took, memory: grown{peak: done.peak}}
	e.bytes, digest, err = digestOf(path)
	return e, digest, errors.Join(err, os.Remove(path))
}

func digestOf(path string) (size int64, digest [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, digest, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return size, [sha256.Size]byte(hash.Sum(nil)), err
}

func (b *bench) exportOverHTTP(ctx context.Context, moment string) (e exported, digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	if b.largest, err = memory(b.rig.service.pid(), "VmHWM"); err != nil {
		return e, digest, err
	}
	var d document
	e.memory, err = growth(b.rig.service.pid(), func() (err error) {
		d, err = b.rig.target.stream(ctx, "/ledger/export?format=csv&asOf="+url.QueryEscape(moment), hash)
		return err
	})
	e.name, e.bytes, e.took = "`GET /ledger/export?format=csv`", d.bytes, d.took
	return e, [sha256.Size]byte(hash.Sum(nil)), err
}

func (r results) exports() section {
	s := section{
		title: "Exports",
		prose: []string{
			fmt.Sprintf("Everything that the run had posted, %d postings, as of one moment, on the disk. Memory: of the command, and over HTTP of the service, at its largest; "+
				"it is bounded, and so does not grow with the books. A camt.053 file has every entry that is not of crypto currencies twice, in the statements of both accounts. "+
				"The sheet over HTTP was fetched when more had been posted, and is equal to the first one to the byte (SHA-256).", r.exporting.postings),
		},
		head: []string{"Export", "Time", "File", "Postings/s", "Memory", "Goal for memory"},
	}
	for _, f := range r.exporting.files {
		memory := megabytes(f.memory.peak)
		if f.memory.before > 0 {
			memory = f.memory.String()
		}
		s.rows = append(s.rows, []string{f.name, lasting(f.took), megabytes(f.bytes), perSecond(r.exporting.postings, f.took), memory,
			"bounded, here by " + megabytes(goalExport) + ": " + met(f.memory.peak-f.memory.before < goalExport)})
	}
	return s
}
