package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	booksapp "causeway/app/books"
	"causeway/app/exports"
	"causeway/app/journals"
	"causeway/app/receivables"
	"causeway/core/books"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/core/reconcile"
	"causeway/core/safeguarding"
	"causeway/ledger"
	"causeway/ports"
)

const journalNumber, reportDay = "2026-02-USD-1", safeguarding.Day("2026-03-13")

var receivableID = numbered(ident.Receivable{}, 34)

func (f *fakeAccounting) FXPosition(ctx context.Context, p ident.Platform, _ ports.Cutoff, in money.Currency) (accounting.FXPosition,
	error) {
	position := f.position
	position.ValuationCurrency = in
	return position, f.read(ctx, p, "position in %s", in)
}

// fakeFinance is the journals, receivables, reports and files of finance.
type fakeFinance struct {
	comparable bool // the months before have figures
	*calls
	journals    []journal.Journal
	receivables []ports.ReceivableDetails
	reports     []ports.KeptReport
	// files are the exports, export is the last request for one, and broken makes one fail after its first words.
	files  []export.Export
	export exports.Request
	broken bool
	// fourEyes are the actions that need a second person, and versions how many versions the settings have.
	fourEyes []books.Action
	versions int
	// refusal is what changes of the chart return.
	refusal error
}

func (f *fakeFinance) Make(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	span journal.Span) ([]journal.Journal, error) {
	f.acted(by.Person.UUID())
	return f.journals, f.read(ctx, p, "make journals of %s by %s", span, by)
}

func (f *fakeFinance) List(ctx context.Context, p ident.Platform, span *journal.Span, after string, limit int) (ports.JournalPage, error) {
	return ports.JournalPage{Journals: f.journals, More: len(f.journals) > 0 && after == ""}, f.read(ctx, p, "journals of %v after %q", span,
		after)
}

func (f *fakeFinance) Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, error) {
	if err := f.read(ctx, p, "journal %s", number); err != nil {
		return journal.Journal{}, err
	}
	if i := slices.IndexFunc(f.journals, func(j journal.Journal) bool { return j.Number == number }); i >= 0 {
		return f.journals[i], nil
	}
	return journal.Journal{}, fault.New(fault.NotFound, "There is no journal.")
}

func (f *fakeFinance) File(ctx context.Context, p ident.Platform, number string, format journal.Format,
	_ journal.Options) (journals.Table, error) {
	if _, err := f.Journal(ctx, p, number); err != nil {
		return journals.Table{}, err
	}
	return journals.Table{Header: []string{"number", "format"}, Rows: [][]string{{number, string(format)}}}, nil
}

func (f *fakeFinance) Receivables(ctx context.Context, p ident.Platform, filter ports.ReceivableFilter) (ports.Page[receivable.Receivable],
	error) {
	var all []receivable.Receivable
	for _, r := range f.receivables {
		all = append(all, r.Receivable)
	}
	return listed(all, filter.Paging, func(r receivable.Receivable) (uuid.UUID, bool) {
		return r.ID.UUID(), filter.State == "" || r.State == filter.State
	}), f.read(ctx, p, "receivables")
}

func (f *fakeFinance) Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, error) {
	if err := f.read(ctx, p, "receivable"); err != nil {
		return ports.ReceivableDetails{}, err
	}
	if i := slices.IndexFunc(f.receivables, func(r ports.ReceivableDetails) bool { return r.ID == id }); i >= 0 {
		return f.receivables[i], nil
	}
	return ports.ReceivableDetails{}, fault.New(fault.NotFound, "There is no such receivable.")
}

func (f *fakeFinance) Aging(ctx context.Context, p ident.Platform) (receivables.AgingReport, error) {
	report := receivables.AgingReport{At: now}
	if len(f.receivables) > 0 {
		report.Currencies = []receivable.Aging{{Currency: "USD", Count: 1, Owed: money.TotalOf(5_00), ByAge: map[receivable.Band]money.Total{}}}
	}
	return report, f.read(ctx, p, "aging")
}

func (f *fakeFinance) WriteOff(ctx context.Context, p ident.Platform, by platform.Author, c receivables.WriteOffCommand,
	_ *ports.IdempotentRequest) (done proposal.Outcome[ports.ReceivableDetails], err error) {
	f.acted(by.Person.UUID())
	pending := newProposal().Proposal
	done.Proposal = &pending
	return done, f.read(ctx, p, "write off %s by %s: %s", c.Receivable, by, c.Note)
}

func (f *fakeFinance) Coverage(ctx context.Context, p ident.Platform) ([]safeguarding.Figures, error) {
	report, err := f.Report(ctx, p, time.Time{})
	return report.Figures, err
}

func (f *fakeFinance) Report(ctx context.Context, p ident.Platform, _ time.Time) (safeguarding.Report, error) {
	if len(f.reports) == 0 {
		return safeguarding.Report{}, f.read(ctx, p, "report")
	}
	return f.reports[0].Report, f.read(ctx, p, "report")
}

func (f *fakeFinance) Reports(ctx context.Context, p ident.Platform, filter ports.SafeguardingFilter) (ports.SafeguardingPage, error) {
	return ports.SafeguardingPage{Reports: f.reports, More: len(f.reports) > 0 && filter.Before == ""},
		f.read(ctx, p, "reports before %q, shortfall %t", filter.Before, filter.ShortfallOnly)
}

func (f *fakeFinance) KeptReport(ctx context.Context, p ident.Platform, day safeguarding.Day, _ int) (ports.KeptReport, error) {
	if err := f.read(ctx, p, "report of %s", day); err != nil {
		return ports.KeptReport{}, err
	}
	if i := slices.IndexFunc(f.reports, func(r ports.KeptReport) bool { return r.Day == day }); i >= 0 {
		return f.reports[i], nil
	}
	return ports.KeptReport{}, fault.New(fault.NotFound, "There is no such report.")
}

func (f *fakeFinance) Acknowledge(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author, note string,
	_ *ports.IdempotentRequest) (ports.KeptReport, error) {
	f.acted(by.Person.UUID())
	return ports.KeptReport{}, f.read(ctx, p, "acknowledge %s by %s: %s", day, by, note)
}

func (f *fakeFinance) Settings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	s := books.DefaultSettings()
	s.FunctionalCurrency, s.FourEyes = "EUR", f.fourEyes
	return books.SettingsVersion{Settings: s}, f.read(ctx, p, "settings of the books")
}

func (f *fakeFinance) SettingsVersions(ctx context.Context, p ident.Platform, q ports.VersionFilter) (
	found ports.VersionPage[books.SettingsVersion], err error) {
	for n := f.versions; n > 0 && len(found.Versions) < q.Limit; n-- {
		if q.Before == 0 || n < q.Before {
			s := books.DefaultSettings()
			s.YearEndMonth = time.Month(1 + n%12)
			found.Versions = append(found.Versions, books.SettingsVersion{Settings: s, Version: n, At: now,
				By: platform.Author{Actor: "Ana <Lima>"}, Note: "Why " + itoa(n)})
		}
	}
	return found, f.read(ctx, p, "versions of the settings before %d", q.Before)
}

func (f *fakeFinance) SetSettings(ctx context.Context, p ident.Platform, c booksapp.Change, next books.Settings) (
	done proposal.Outcome[books.SettingsVersion], err error) {
	done.Proposal = f.proposedBy(c)
	return done, f.read(ctx, p, "set the books of version %d by %s: %q %v", *c.Base, c.By, c.Note,
		books.ChangedSettings(books.DefaultSettings(), next))
}

// rentPath is the account that the platform has added.
const rentPath = "expense/office-rent"

func (f *fakeFinance) Chart(ctx context.Context, p ident.Platform) ([]booksapp.ChartAccount, error) {
	rent := books.AddedAccount{Path: rentPath, Name: "Rent <Lisbon>", Description: "Both floors"}
	return []booksapp.ChartAccount{{ChartLine: ledger.ChartLine{Path: "rails/{rail}", Class: ledger.Asset}},
		{ChartLine: ledger.ChartLine{Path: rent.Path, Class: rent.Class(), Description: rent.Description},
			GL: books.GLAccount{Code: "6310"}, Added: &rent}}, f.read(ctx, p, "chart")
}

func (f *fakeFinance) AddAccount(ctx context.Context, p ident.Platform, c booksapp.Change, _ *ports.IdempotentRequest,
	a books.AddedAccount) (proposal.Outcome[booksapp.ChartAccount], error) {
	return proposal.Outcome[booksapp.ChartAccount]{Proposal: f.proposedBy(c)}, cmp.Or(f.read(ctx, p, "add %s %q %q by %s: %s", a.Path,
		a.Name, a.Description, c.By, c.Note), f.refusal)
}

func (f *fakeFinance) ChangeAccount(ctx context.Context, p ident.Platform, c booksapp.Change, path string,
	change booksapp.AccountChange) (proposal.Outcome[booksapp.ChartAccount], error) {
	return proposal.Outcome[booksapp.ChartAccount]{Proposal: f.proposedBy(c)}, f.read(ctx, p, "change %s to %q %q %t by %s: %s", path,
		*change.Name, *change.Description, *change.Retired, c.By, c.Note)
}

// proposedBy returns the proposal that a change becomes; nil without four eyes.
func (f *fakeFinance) proposedBy(c booksapp.Change) *proposal.Proposal {
	f.acted(c.By.Person.UUID())
	if len(f.fourEyes) == 0 {
		return nil
	}
	pending := newProposal().Proposal
	return &pending
}

// exportID is an export that is written, doneExportID one that has a file, and packID a pack that has one.
var exportID, doneExportID, packID = uuid.UUID{0: 1, 15: 90}, uuid.UUID{0: 1, 15: 91}, uuid.UUID{0: 1, 15: 94}

// packFindings is what the verification for the pack found.
const packFindings = "1 of 40 rules failed"

// fakeFiles are the exports of finance.
type fakeFiles struct{ *fakeFinance }

func (f fakeFiles) Request(ctx context.Context, p ident.Platform, by person.Person, r exports.Request) (export.Export, error) {
	f.acted(by.ID.UUID())
	f.export = r
	return export.Export{}, f.read(ctx, p, "request an export by %s", by.Name)
}

func (f fakeFiles) List(ctx context.Context, p ident.Platform) ([]export.Export, error) {
	return f.files, f.read(ctx, p, "exports")
}

func (f fakeFiles) Cancel(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) error {
	f.acted(by.ID.UUID())
	return f.read(ctx, p, "cancel the export %s by %s", id, by.Name)
}

func (f fakeFiles) Open(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) (exports.Document, error) {
	f.acted(by.ID.UUID())
	if err := f.read(ctx, p, "download the export %s by %s", id, by.Name); err != nil {
		return exports.Document{}, err
	}
	return exports.Document{Name: "ledger.csv", ContentType: "text/csv", Write: func(ctx context.Context, out io.Writer) error {
		if err := f.read(ctx, p, "write"); err != nil {
			return err
		}
		_, err := io.WriteString(out, "seq,account\n")
		if f.broken {
			return errors.New("connection lost")
		}
		return err
	}}, nil
}

func (s *site) fillFinanceLists() {
	s.finance.versions = 2
	s.accounting.position = accounting.FXPosition{AllValued: true, RatesKeptAt: now, Value: money.TotalOf(1_10),
		Lines: []accounting.FXLine{{Currency: "USD", Position: money.TotalOf(1_20), Valued: true, Value: money.TotalOf(1_10)}}}
	file := export.Export{ID: exportID, Platform: ownPlatform, By: newPerson().ID, Actor: "Ada Lovelace", Format: "csv",
		FileName: "ledger.csv",
		State:    export.Running, Progress: export.Progress{Done: 500, Total: 2000}, CreatedAt: now,
		Interval: period.Interval{From: testMonth.Start(), To: testMonth.End()}, Account: "rails/ACH", Currency: "USD"}
	done, others, failed := file, file, file
	done.ID, done.State, done.Size = doneExportID, export.Completed, 12_345
	others.ID, others.By, others.State = uuid.UUID{0: 1, 15: 92}, ident.Person{}, export.Waiting
	failed.ID, failed.State, failed.Problem = uuid.UUID{0: 1, 15: 93}, export.Failed, "account: had no postings"
	pack := done
	pack.ID, pack.Format, pack.Problem = packID, string(exports.AuditPack), packFindings
	s.finance.files = []export.Export{file, done, others, failed, pack}
	s.finance.journals = []journal.Journal{{Number: journalNumber, Span: journal.Span{From: testMonth.Start(), To: testMonth.End()},
		Currency: "USD",
		Revision: 1, MadeAt: now, By: someone, Lines: []journal.Line{{GLAccount: books.GLAccount{Code: "4000", Name: "Fees"},
			Credit: money.TotalOf(7_00)}, {GLAccount: books.GLAccount{Code: "1000", Name: "Bank"}, Debit: money.TotalOf(7_00)}}}}
	s.finance.receivables = []ports.ReceivableDetails{{Receivable: receivable.Receivable{ID: receivableID, Transaction: paymentID,
		Customer: customerID, Amount: usd(5_00), State: receivable.Open, Return: receivable.Return{ReasonCode: "R01", ReturnedAt: now,
			Note: "Hunahpu disputes it", By: platform.Service}},
		Changes: []receivable.Change{{Number: 1, Kind: receivable.Returned, Amount: 5_00, Posting: postingID, At: now,
			Note: "Hunahpu disputes it", By: platform.Service}}}}
	s.finance.reports = []ports.KeptReport{{Report: safeguarding.Report{Platform: ownPlatform, Day: reportDay, Version: 1, AsOf: now,
		MadeAt: now,
		Figures: []safeguarding.Figures{{Currency: "USD", Requirement: money.TotalOf(9_00), Resource: money.TotalOf(8_00),
			Lines: []safeguarding.Line{{Section: safeguarding.Resource, Path: "rails/ACH", Amount: money.TotalOf(8_00)}}}}}, Versions: 1,
		Acknowledgements: []safeguarding.Acknowledgement{{Day: reportDay, At: now, By: someone, Note: "Topped up"}}}}
}

func TestFinanceLists_LeadToDetails(t *testing.T) {
	t.Parallel()
	// Each list leads to its details and the next page, and each page shows what it is for.
	s := asFinance(t)
	for path, wants := range map[string][]string{
		"/journals":                  {journalNumber, "make-journals", "after=" + journalNumber, "Ana Lima"},
		"/journals/" + journalNumber: {"4000", "7.00", "file.csv?format=quickbooks"},
		"/receivables":               {"R01", "5.00", "Days over 90", receivableID.UUID().String()},
		"/receivables/" + receivableID.UUID().String(): {"write-off", "returned", postingID.String()},
		"/safeguarding":                      {"USD shortfall", "rails/ACH", "after=" + string(reportDay), "Ana Lima"},
		"/safeguarding/" + string(reportDay): {"Topped up", "/acknowledge", "<td>difference</td>"},
		"/fx-position": {"1.10 EUR", "Position", "USD", "Exchange results", "1.50", "-0.50", "Ana Lima",
			base + "/months/2026-02\"", base + "/months/2026-01\"", base + "/postings/" + postingID.String()},
		"/exports": {"make-export", "csv, from 2026-02-01, to 2026-02-28, rails/ACH, USD",
			"500 of 2000 postings (25 %)", exportID.String() + "/cancel", doneExportID.String() + "/file", "12345", "had no postings"},
	} {
		got := s.get(base + path)
		for _, want := range wants {
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, no %q in %s", path, got.StatusCode, want, got.body)
			}
		}
	}
	viewer := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for _, path := range []string{"/journals", "/receivables/" + receivableID.UUID().String(), "/safeguarding/" + string(reportDay)} {
		if got := viewer.get(base + path); strings.Contains(got.body, "make-journals") || strings.Contains(got.body, "/write-off") ||
			strings.Contains(got.body, "/acknowledge") {
			t.Errorf("a viewer has a button on %s: %s", path, got.body)
		}
	}
}

func TestActors_NamedButNotTextsThatNameTokens(t *testing.T) {
	t.Parallel()
	// Who has done something is named on every page of it. A text that somebody has written stays as it is, whatever ids it has.
	s := asFinance(t)
	note, named := "Asked by "+someone.Token.String(), "(service Backend, "+someone.Token.String()+")"
	s.finance.reports[0].Acknowledgements[0].Note = note
	s.finance.receivables[0].Changes[0].By, s.finance.receivables[0].Changes[0].Note = someone, note
	s.books.months[1].Changes[0].Note, s.books.monthly[0].Note = note, note
	for _, path := range []string{"/safeguarding/" + string(reportDay), "/receivables/" + receivableID.UUID().String(), "/months/2026-02",
		"/recurring/" + recurringName} {
		if got := s.get(base + path).body; !strings.Contains(got, named) || !strings.Contains(got, note) {
			t.Errorf("%s without %q or %q: %s", path, named, note, got)
		}
	}
}

func TestFinanceLists_Actions(t *testing.T) {
	t.Parallel()
	// Journals are made, receivables written off and reports acknowledged as the person; a write-off only with a code.
	s := asFinance(t)
	author := "Ada Lovelace (Token:" + newPerson().ID.UUID().String() + ")"
	for _, test := range []struct {
		path string
		form url.Values
		want string
		to   string
	}{
		{"/make-journals", url.Values{"span": {" 2026-02 "}}, "make journals of 2026-02 by " + author, "/journals?span=2026-02"},
		{"/receivables/" + receivableID.UUID().String() + "/write-off", url.Values{"note": {"Lost"}, "code": {"123456"}},
			fmt.Sprintf("write off %s by %s: Lost", receivableID, author), "/proposals/" + proposalID.UUID().String()},
		{"/safeguarding/2026-03-13/acknowledge", url.Values{"note": {"Seen"}}, "acknowledge 2026-03-13 by " + author + ": Seen",
			"/safeguarding/2026-03-13"},
	} {
		if got := s.post(base+test.path, test.form); got.Header.Get("Location") != base+test.to || !slices.Contains(s.calls.log, test.want) {
			t.Errorf("%s: %d to %s, calls %q", test.path, got.StatusCode, got.Header.Get("Location"), s.calls.log)
		}
	}
	if got := s.post(base+"/make-journals", url.Values{"span": {"February"}}); got.StatusCode < 400 || !strings.Contains(got.body,
		"must be a day of the form") || !strings.Contains(got.body, `value="February"`) {
		t.Errorf("no span: %d %s", got.StatusCode, got.body)
	}
	for _, path := range []string{"/journals?span=x", "/fx-position?currency=xx"} {
		if got := s.get(base + path); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	for _, path := range []string{"/receivables?state=x", "/safeguarding/x", "/journals/x", "/journals/x/file.csv", "/receivables/x"} {
		if got := s.get(base + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestExports_AskedForAndCancelled(t *testing.T) {
	t.Parallel()
	// A file is asked for with its days, both included, and cancelled by those who may. Only one that is written has a link.
	s := asFinance(t)
	form := url.Values{"format": {"csv"}, "day-from": {"2026-02-01"}, "day-to": {"2026-02-28"},
		"account": {" rails/ACH "}, "currency": {"usd"}}
	got := s.post(base+"/make-export", form)
	want := exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Path: "rails/ACH", Currency: "USD",
		Interval: period.Interval{From: testMonth.Start(), To: testMonth.End()}}}
	if got.Header.Get("Location") != base+"/exports" || s.finance.export != want {
		t.Errorf("%d to %s, %+v", got.StatusCode, got.Header.Get("Location"), s.finance.export)
	}
	s.post(base+"/make-export", url.Values{"day-to": {now.Format(time.DateOnly)}})
	if !s.finance.export.Interval.To.IsZero() {
		t.Errorf("up to today: %+v", s.finance.export.Interval)
	}
	if got := s.post(base+"/make-export", url.Values{"day-from": {"x"}}); got.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("no day: %d", got.StatusCode)
	}
	s.post(base+"/exports/"+exportID.String()+"/cancel", url.Values{})
	if !slices.Contains(s.calls.log, "cancel the export "+exportID.String()+" by Ada Lovelace") {
		t.Errorf("calls %q", s.calls.log)
	}
	list := s.get(base + "/exports").body
	if strings.Count(list, "/cancel") != 1 || strings.Count(list, "/file") != 2 {
		t.Errorf("links of others in %s", list)
	}
}

func TestExports_WholeOrCutOff(t *testing.T) {
	t.Parallel()
	// A file that fails midway is cut off, so that nobody takes it for whole.
	s := asFinance(t)
	file := base + "/exports/" + doneExportID.String() + "/file"
	got := s.get(file)
	if got.body != "seq,account\n" || got.Header.Get("Content-Disposition") != `attachment; filename="ledger.csv"` ||
		!slices.Contains(s.calls.log, "download the export "+doneExportID.String()+" by Ada Lovelace") {
		t.Errorf("%d %q, %q", got.StatusCode, got.body, s.calls.log)
	}
	if got := s.get(base + "/exports/x/file"); got.StatusCode != http.StatusNotFound {
		t.Errorf("no id: %d", got.StatusCode)
	}
	s.finance.broken = true
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Error("a file that fails midway ends like a whole one")
		}
	}()
	s.get(file)
}

func TestExports_PackOfAYear(t *testing.T) {
	t.Parallel()
	// Who sees the audit asks for the pack of a year that is over, by its months; one that is not over or unknown is
	// refused. How far it is is said in files, and what the verification found beside the file, to those who may have it.
	viewer, s := newSite(t).fill().as(person.Grant{Role: person.Viewer}), asFinance(t)
	if list := viewer.get(base + "/exports").body; strings.Contains(list, "/make-audit-pack") || strings.Contains(list, packFindings) ||
		strings.Contains(list, packID.String()+"/file") {
		t.Errorf("without the audit: %s", list)
	}
	if form := viewer.get(base + "/make-audit-pack"); form.StatusCode != http.StatusForbidden {
		t.Errorf("the form without the audit: %d", form.StatusCode)
	}
	if list := s.get(base + "/exports").body; !strings.Contains(list, "/make-audit-pack") || !strings.Contains(list, packFindings) ||
		!strings.Contains(list, packID.String()+"/file") {
		t.Errorf("with the audit: %s", list)
	}
	if form := s.get(base + "/make-audit-pack"); strings.Contains(form.body, "2026-12") ||
		!strings.Contains(form.body, "2025, 2025-01 to 2025-12") {
		t.Errorf("the form: %s", form.body)
	}
	if got := s.post(base+"/make-audit-pack", url.Values{"year": {"2025"}}); got.Header.Get("Location") != base+"/exports" {
		t.Errorf("%d to %s: %s", got.StatusCode, got.Header.Get("Location"), got.body)
	}
	want := exports.Request{Format: exports.AuditPack}
	want.Interval = period.Interval{From: month(2025, 1), To: month(2026, 1)}
	if s.finance.export != want {
		t.Errorf("asked for %+v", s.finance.export)
	}
	if got := s.post(base+"/make-audit-pack", url.Values{"year": {"2026"}}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a year that is not over: %d", got.StatusCode)
	}
	running := export.Export{Format: string(exports.AuditPack), State: export.Running, Progress: export.Progress{Done: 12}}
	if got := progressOf(running); !strings.HasPrefix(got, "12 files") {
		t.Errorf("progress %q", got)
	}
	if got := progressOf(export.Export{State: export.Completed, Problem: packFindings}); got != packFindings {
		t.Errorf("a whole file about a ledger with violations: %q", got)
	}
}

func TestStatement_LinesBesideTheLedger(t *testing.T) {
	t.Parallel()
	// Each line of a statement is beside the entries that it matches, a row for each, or its break. What the partner wrote, which may name
	// people, is not shown.
	s := asFinance(t)
	line := reconcile.Line{ID: uuid.UUID{15: 1}, Ordinal: 3, Amount: 93_00, ServicerReference: "S-1", Description: "Tikal rent"}
	other := line
	other.ID, other.Ordinal = uuid.UUID{15: 2}, 4
	entries := []reconcile.EntryDetails{{Posting: postingID, Amount: 90_00, Effective: now},
		{Posting: uuid.UUID{15: 9}, Amount: 3_00, Effective: now}}
	s.statements.lines = []reconcile.LineDetails{{Line: line, Status: reconcile.Matched, Rule: reconcile.ReferenceSum, Entries: entries},
		{Line: other, Status: reconcile.InBreak, Break: breakID}}
	path := base + "/reconciliations/" + pathOfID(runID) + "/lines"
	got := s.get(path)
	for _, want := range []string{`href="` + base + "/postings/" + postingID.String() + `"`, `href="` + base + "/breaks/" + pathOfID(breakID) + `"`,
		"reference sum", `<td class="amount">90.00</td>`, `<td class="amount">3.00</td>`, "S-1"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, "Tikal") || strings.Count(got.body, "<td>S-1</td>") != 3 {
		t.Errorf("%s", got.body)
	}
	if _, lines := s.file(path + "?file=csv&status=BREAK"); len(lines) != 2 || lines[1][0] != "4" {
		t.Errorf("%q", lines)
	}
	if got := s.get(path + "?status=x"); got.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown status: %d", got.StatusCode)
	}
	if got := s.get(base + "/reconciliations/" + pathOfID(runID)); !strings.Contains(got.body, `href="`+path+`"`) {
		t.Errorf("the statement does not lead to its lines: %s", got.body)
	}
}
