package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports"
	"causeway/app/yearend"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/ports"
)

// Exports are the use cases that write a document while it is downloaded.
type Exports interface {
	FinancialStatements(ctx context.Context, p ident.Platform, report financials.Report, isFinal bool) (exports.Document, error)
	Statement(ctx context.Context, p ident.Platform, r exports.StatementRequest) (exports.Document, error)
}

// ExportFiles are the use cases on files of the ledger, which are written in the background.
type ExportFiles interface {
	Request(ctx context.Context, p ident.Platform, by person.Person, r exports.Request) (export.Export, error)
	List(ctx context.Context, p ident.Platform) ([]export.Export, error)
	Cancel(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) error
	Open(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) (exports.Document, error)
}

// The limits of a download. A reader that takes nothing for stallTimeout has left.
const (
	downloadTimeout = 30 * time.Minute
	stallTimeout    = 30 * time.Second
)

func (c *Console) exportRoutes() []platformRoute {
	return append(append([]platformRoute{
		{"GET", "/exports", person.View, c.showExports},
		{"GET", "/exports/{export}/file", person.View, c.downloadExport},
	}, append(c.actionRoutes("/make-export", person.View, c.makeExport),
		c.actionRoutes("/make-audit-pack", person.ViewAudit, c.makeAuditPack)...)...),
		c.actionRoutes("/exports/{export}/cancel", person.View, c.cancelExport)...)
}

func (c *Console) showExports(r *request) error {
	found, err := c.ExportFiles.List(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Exports", "exports")}
	c.refresh(r, &v.page)
	v.Intro = fmt.Sprintf("The entries of the ledger, payments, the audit and packs of years for auditors as files. One of a platform is "+
		"written at a time, and a pack beside it, in the background. Files are kept for %d days, "+
		"and can be downloaded by everybody who sees the ledger, those of the audit and packs by who sees the audit; each download is recorded.",
		exports.FilesRetention/(24*time.Hour))
	rows := table{Label: "Exports", Columns: columns("Asked for", "By", "Contents", "State", "Progress", ">Bytes", "Change"),
		Empty: "There are no files. Make one."}
	for _, e := range found {
		mayHave := exports.Format(e.Format).Check(v.Person, r.platform.ID) == nil
		if !mayHave {
			e.Problem = "" // what the verification found
		}
		row := []cell{timed(e.CreatedAt), acted(e.Actor), plain(contentsOf(e)), stated(e.State), plain(progressOf(e)), amountCell(""), plain("")}
		link := v.Base + "/exports/" + e.ID.String()
		switch {
		case e.State == export.Completed && mayHave:
			row[5], row[6] = amountCell(strconv.FormatInt(e.Size, 10)), linked("Download", link+"/file")
		case !e.HasEnded() && e.MayCancel(v.Person):
			row[6] = linked("Cancel", link+"/cancel")
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: &rows}}
	v.Actions = []fact{actionLink("Make a file", v.Base+"/make-export")}
	if exports.AuditPack.Check(v.Person, r.platform.ID) == nil {
		v.Actions = append(v.Actions, actionLink("Make the pack of a year", v.Base+"/make-audit-pack"))
	}
	return c.show(r, v)
}

// contentsOf says what a file has.
func contentsOf(e export.Export) string {
	parts := []string{e.Format}
	if from := e.Interval.From; !from.IsZero() {
		parts = append(parts, "from "+from.Format(time.DateOnly))
	}
	if to := e.Interval.To; !to.IsZero() {
		parts = append(parts, "to "+to.AddDate(0, 0, -1).Format(time.DateOnly))
	}
	return strings.Join(append(parts, strings.Fields(e.Account+" "+string(e.Currency))...), ", ")
}

// progressOf says how far an export is, or why it failed.
func progressOf(e export.Export) string {
	switch {
	case e.State != export.Running || e.Done == 0 && e.Total <= 0:
		return e.Problem
	case exports.Format(e.Format) == exports.AuditPack:
		return counted(int(e.Done), "file") + " of the pack; the ledger is verified last"
	case e.Total <= 0: // a list
		return fmt.Sprintf("%d lines", e.Done)
	}
	return fmt.Sprintf("%d of %d postings (%d %%)", e.Done, e.Total, e.Done*100/e.Total)
}

func (c *Console) makeExport(r *request) (action, error) {
	var formats []option
	for _, f := range exports.FileFormats() {
		switch format := exports.Format(f); {
		case !format.IsList():
			formats = append(formats, option{f, f})
		case format.Check(r.in.Person, r.platform.ID) == nil:
			formats = append(formats, option{f, f + ", a list as CSV"})
		}
	}
	base := basePath(r.platform.ID)
	return action{Title: "Make a file", Section: "exports", Back: base + "/exports", Does: "The entries of the ledger, by the time at which " +
		"they take effect, or a list by the time of its lines, are written to a file in the background.",
		Fields: []field{{Name: "format", Label: "Format", Kind: "select", Options: formats},
			{Name: "day-from", Label: "From (UTC)", Kind: "date"},
			{Name: "day-to", Label: "To (UTC), included", Kind: "date", Hint: "Empty for everything up to now."},
			{Name: "account", Label: "Account", Hint: "Such as `rails/ACH`; empty for all, and for a list."}, {Name: "currency",
				Label: "Currency"}},
		do: func(r *request) (string, error) {
			i, err := daysOf(func(name string) string { return r.PostFormValue("day-" + name) }, c.Clock.Now())
			if err != nil {
				return "", err
			}
			_, err = c.ExportFiles.Request(r.Context(), r.platform.ID, r.in.Person, exports.Request{
				Format: exports.Format(r.PostFormValue("format")),
				LedgerFilter: ports.LedgerFilter{Interval: i, Path: formText(r, "account"),
					Currency: money.Currency(strings.ToUpper(formText(r, "currency")))}})
			return "", err
		}}, nil
}

// makeAuditPack has the pack of a financial year written, if all its months are closed.
func (c *Console) makeAuditPack(r *request) (action, error) {
	years, err := c.Years.List(r.Context(), r.platform.ID)
	if err != nil {
		return action{}, err
	}
	years = slices.DeleteFunc(years, func(y yearend.Year) bool { return y.Year.Last().End().After(c.Clock.Now()) })
	options := make([]option, len(years))
	for i, y := range years {
		options[i] = option{y.Year.String(), y.Year.String() + ", " + y.Year.First().String() + " to " + y.Year.Last().String()}
	}
	base := basePath(r.platform.ID)
	return action{Title: "Make the pack of a year", Section: "exports", Back: base + "/exports", Does: "What an auditor needs of a " +
		"financial year is written to a ZIP file in the background: the books, the closings, both signed logs with proofs, and the " +
		"verification of the whole ledger. Memos of postings have words of payers. All months of the year must be closed.",
		Fields: []field{{Name: "year", Label: "Financial year", Kind: "select", Options: options}},
		do: func(r *request) (string, error) {
			i := slices.IndexFunc(years, func(y yearend.Year) bool { return y.Year.String() == r.PostFormValue("year") })
			if i < 0 {
				return "", fault.Invalid(fault.Field{Field: "year", Message: "must be a financial year that is over"})
			}
			_, err := c.ExportFiles.Request(r.Context(), r.platform.ID, r.in.Person, exports.Request{Format: exports.AuditPack,
				LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: years[i].Year.First().Start(),
					To: years[i].Year.Last().End()}}})
			return "", err
		}}, nil
}

func exportIn(r *request) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("export"))
	if err != nil {
		return id, errNotFound
	}
	return id, nil
}

func (c *Console) cancelExport(r *request) (action, error) {
	id, err := exportIn(r)
	return action{Title: "Cancel the export", Section: "exports", Back: basePath(r.platform.ID) + "/exports",
		Does: "It is written no further, and there will be no file.",
		do: func(r *request) (string, error) {
			return "", c.ExportFiles.Cancel(r.Context(), r.platform.ID, r.in.Person, id)
		}}, err
}

func (c *Console) downloadExport(r *request) error {
	id, err := exportIn(r)
	if err != nil {
		return err
	}
	document, err := c.ExportFiles.Open(r.Context(), r.platform.ID, r.in.Person, id)
	if err != nil {
		return err
	}
	return download(r, document)
}

// daysOf returns the interval of a form with the first and the last day, up to now if that is not over.
func daysOf(get func(name string) string, now time.Time) (i period.Interval, err error) {
	for name, end := range map[string]*time.Time{"from": &i.From, "to": &i.To} {
		text := strings.TrimSpace(get(name))
		if text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return i, &problem{http.StatusUnprocessableEntity, "The file cannot be made", "A day must be written as in 2026-10-31."}
		}
		if *end = day; name == "to" {
			*end = day.AddDate(0, 0, 1)
		}
	}
	if i.To.After(now) {
		i.To = time.Time{} // the day is not over
	}
	return i, nil
}

// download sends a document while it is written. Of one that fails midway the connection is closed, so that a file that arrives whole
// is complete.
func download(r *request, document exports.Document) error {
	ctx := ports.ForPlatform(r.client, r.platform.ID)
	if r.platform.ID.IsZero() {
		ctx = ports.ForAllPlatforms(r.client)
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	out := &fileWriter{w: r.w, controller: http.NewResponseController(r.w), document: document}
	_ = out.controller.SetReadDeadline(time.Time{}) // the request has been read; writers of tests have no deadlines
	err := document.Write(ctx, out)
	switch {
	case err == nil:
		out.begin() // of an empty file
		return nil
	case !out.begun:
		return err
	}
	panic(http.ErrAbortHandler) // closes the connection
}

// fileWriter writes a file to the reader of a page.
type fileWriter struct {
	w          http.ResponseWriter
	controller *http.ResponseController
	document   exports.Document
	begun      bool
}

func (f *fileWriter) begin() {
	if f.begun {
		return
	}
	f.begun = true
	f.w.Header().Set("Content-Type", f.document.ContentType)
	f.w.Header().Set("Content-Disposition", `attachment; filename="`+f.document.Name+`"`)
	f.w.WriteHeader(http.StatusOK)
}

// Write implements io.Writer.
func (f *fileWriter) Write(p []byte) (int, error) {
	f.begin()
	_ = f.controller.SetWriteDeadline(time.Now().Add(stallTimeout))
	return f.w.Write(p)
}
