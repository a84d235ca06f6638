package exports

import (
	"context"
	"fmt"
	"io"
	"time"

	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
)

// AuditPacks writes what an auditor needs of a financial year as one archive.
type AuditPacks interface {
	// Check returns CONFLICT for a year that can still change or is not sealed, MONTH_ARCHIVED, and INVALID_INPUT for an unknown one.
	Check(ctx context.Context, p ident.Platform, year int) error
	// Write returns what the verification of the ledger found, which the archive has too; empty if it passed.
	Write(ctx context.Context, p ident.Platform, year int, out io.Writer, written func(files int64)) (findings string, err error)
}

// packTimeout is the maximum duration of a pack, for which the whole ledger is verified.
const packTimeout = 12 * time.Hour

func isPack(e export.Export) bool { return Format(e.Format) == AuditPack }

func (f *Files) tookTooLong(e export.Export) error {
	if isPack(e) {
		return fault.New(fault.Conflict, "It took longer than %s. Write it with `causeway ledger audit-pack`, which has no such limit.",
			packTimeout)
	}
	return fault.New(fault.Conflict, "It took longer than %s. Choose a shorter time, or one account.", f.Timeout)
}

// findings is the error of a file that is whole, but whose ledger has violations.
type findings string

func (f findings) Error() string { return string(f) }

// yearOf returns the number of the financial year whose months a request names: the calendar year of the last one.
func yearOf(r Request) int { return r.To.AddDate(0, 0, -1).Year() }

func (f *Files) pack(p ident.Platform, r Request, progress progress) Document {
	year := yearOf(r)
	return Document{Name: fmt.Sprintf("audit-pack-%d.zip", year), ContentType: "application/zip",
		Write: func(ctx context.Context, out io.Writer) error {
			found, err := f.Packs.Write(ctx, p, year, out, func(files int64) { progress(files, 0) })
			if err == nil && found != "" {
				err = findings(found)
			}
			return err
		}}
}
