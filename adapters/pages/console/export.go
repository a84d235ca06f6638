package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/ports"
)

// Exports are the use cases that write the ledger as a file.
type Exports interface {
	Export(p ident.Platform, r exports.Request) (exports.Document, error)
	For(p ident.Platform, by person.Person, d exports.Document) exports.Document
	Running(p ident.Platform) []exports.Running
	Cancel(p ident.Platform, id uuid.UUID, by person.Person) error
	FinancialStatements(ctx context.Context, p ident.Platform, report financials.Report, isFinal bool) (exports.Document, error)
	Statement(ctx context.Context, p ident.Platform, r exports.StatementRequest) (exports.Document, error)
}

// The limits of a download. A reader that takes nothing for stallTimeout has left.
const (
	downloadTimeout = 30 * time.Minute
	stallTimeout    = 30 * time.Second
)

func (c *Console) exportRoutes() []platformRoute {
	return append([]platformRoute{
		{"GET", "/exports", person.View, c.showExports},
		{"GET", "/exports/file", person.View, c.downloadExport},
	}, c.actionRoutes("/exports/{export}/cancel", person.View, c.cancelExport)...)
}

func (c *Console) showExports(r *request) error {
	query := r.URL.Query()
	v := view{page: c.page(r, "Exports", "exports"), Intro: "The entries of the ledger as a file, by the time at which they take effect. " +
		"The " +
		"browser shows how much has arrived; a file that arrives whole is complete. A platform exports one file at a time. What is being " +
		"written is listed here, and can be cancelled by who has started it and by administrators."}
	formats := make([]option, 0, len(exports.Formats()))
	for _, f := range exports.Formats() {
		formats = append(formats, option{f, f})
	}
	v.Filter = &filter{v.Base + "/exports/file", []field{
		{Name: "format", Label: "Format", Kind: "select", Options: formats, Value: query.Get("format")},
		{Name: "from", Label: "From (UTC)", Kind: "date", Value: query.Get("from")},
		{Name: "to", Label: "To (UTC), included", Kind: "date", Value: query.Get("to"), Hint: "Empty for everything up to now."},
		{Name: "account", Label: "Account", Value: query.Get("account"), Hint: "Such as `rails/ACH`; empty for all."},
		{Name: "currency", Label: "Currency", Value: query.Get("currency")}}}
	if running := c.Exports.Running(r.platform.ID); len(running) > 0 {
		v.Sections = []section{{Heading: "Being written", Table: runningExports(v.page, running),
			Text: "Load the page again to see how far they are."}}
	}
	return c.show(r, v)
}

// runningExports lists what is being written, with what cancels it for those who may.
func runningExports(p page, running []exports.Running) *table {
	t := &table{Label: "Being written", Columns: columns("Started", "File", "By", "Read", "Change")}
	for _, e := range running {
		progress, change := "", cell{}
		if e.Total > 0 {
			progress = fmt.Sprintf("%d of %d postings (%d %%)", e.Done, e.Total, e.Done*100/e.Total)
		}
		if e.MayCancel(p.Person) {
			change = linked("Cancel", p.Base+"/exports/"+e.ID.String()+"/cancel")
		}
		t.Rows = append(t.Rows, []cell{timed(e.StartedAt), plain(e.Name), plain(e.By.Name), plain(progress), change})
	}
	return t
}

// cancelExport ends an export that somebody downloads.
func (c *Console) cancelExport(r *request) (action, error) {
	id, err := uuid.Parse(r.PathValue("export"))
	if err != nil {
		return action{}, errNotFound
	}
	return action{Title: "Cancel the export", Section: "exports", Back: basePath(r.platform.ID) + "/exports",
		Does: "It is written no further, and the browser that downloads it keeps no file.",
		do:   func(r *request) (string, error) { return "", c.Exports.Cancel(r.platform.ID, id, r.in.Person) }}, nil
}

func (c *Console) downloadExport(r *request) error {
	query := r.URL.Query()
	i, err := daysOf(query.Get, c.Clock.Now())
	if err != nil {
		return err
	}
	document, err := c.Exports.Export(r.platform.ID, exports.Request{Format: exports.Format(query.Get("format")),
		LedgerFilter: ports.LedgerFilter{Interval: i, Path: strings.TrimSpace(query.Get("account")),
			Currency: money.Currency(strings.ToUpper(strings.TrimSpace(query.Get("currency"))))}})
	if err != nil {
		return err
	}
	return download(r, c.Exports.For(r.platform.ID, r.in.Person, document))
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
	ctx, cancel := context.WithTimeout(ports.ForPlatform(r.client, r.platform.ID), downloadTimeout)
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
