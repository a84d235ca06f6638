package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ports"
)

var deadJobID = uuid.UUID{0: 1, 15: 40}

// fakeRails is connections and the payments that they carry.
type fakeRails struct {
	// proposes: releases need a second person.
	proposes bool
	*calls
	listed   []rails.Listed
	pauses   []ports.RailPause
	payments []rails.Decided
	// waiting is the last question for payments that wait, and refusal what decisions return.
	waiting string
	refusal error
}

// everywhere is call for what belongs to no platform.
func (f *fakeRails) everywhere(ctx context.Context, name string, args ...any) error {
	f.t.Helper()
	if scope, ok := ports.ScopeOf(ctx); !ok || scope != (ports.Scope{AllPlatforms: true}) {
		f.t.Errorf("%s is called with the scope %+v", name, scope)
	}
	return f.call(name, args...)
}

func (f *fakeRails) List(ctx context.Context) ([]rails.Listed, []ports.RailPause, error) {
	return f.listed, f.pauses, f.everywhere(ctx, "connections")
}

func (f *fakeRails) Show(ctx context.Context, name string) (rails.Shown, error) {
	if err := f.everywhere(ctx, "connection %s", name); err != nil {
		return rails.Shown{}, err
	}
	for _, l := range f.listed {
		if l.Name == name {
			return rails.Shown{Listed: l, Test: &ports.RailTest{Passed: true, At: now}, Accounts: []rail.Account{{AccountKey: rail.AccountKey{
				Connection: name, Currency: "EUR"}, Balance: 500_00, BalanceAt: now, InFlight: 20_00, Waiting: true},
				{AccountKey: rail.AccountKey{Connection: name, Currency: "USD"}}}}, nil
		}
	}
	return rails.Shown{}, fault.New(fault.InvalidInput, "There is no connection %q.", name)
}

func (f *fakeRails) InReview(ctx context.Context, p ident.Platform, _ int) (found []rail.Payment, err error) {
	for _, d := range f.payments {
		if d.State == rail.InReview {
			found = append(found, d.Payment)
		}
	}
	return found, f.read(ctx, p, "in review")
}

func (f *fakeRails) History(ctx context.Context, _ string) ([]rails.Change, error) {
	return []rails.Change{{Version: &f.listed[0].RailConnectionVersion}, {Pause: &ports.RailPause{Paused: true, By: "ana", Note: "Trouble",
			At: now}}, {Pause: &ports.RailPause{By: "ana", At: now}}, {Test: &ports.RailTest{Problem: "wrong password", At: now}}},
		f.everywhere(ctx, "history")
}

func (f *fakeRails) Calendars(ctx context.Context, _ string, _ int) ([]rails.RailCalendar, error) {
	return []rails.RailCalendar{{Rail: corridor.SEPA, Schedule: settlement.Schedule{Zone: "Europe/Berlin", CutOff: "15:00"}, Executed: now,
		Settled: now.Add(time.Hour)}}, f.everywhere(ctx, "calendars")
}

func (f *fakeRails) OpenPayments(ctx context.Context, _ string) ([]rails.OpenPayments, error) {
	if len(f.listed) == 0 {
		return nil, f.everywhere(ctx, "open payments")
	}
	return []rails.OpenPayments{{Connection: "bank-eur", Rail: corridor.SEPA, Currency: "EUR", Held: rails.Sum{Count: 3,
		Amount: money.TotalOf(30_00)}, Left: rails.Sum{Count: 1, Amount: money.TotalOf(9_00)}}}, f.everywhere(ctx, "open payments")
}

func (f *fakeRails) Troubled(ctx context.Context) (unfunded, failing []string, err error) {
	return []string{"bank-eur"}, []string{"bank-usd"}, f.everywhere(ctx, "troubled")
}

func (f *fakeRails) Pause(ctx context.Context, name string, paused bool, by rails.Author) error {
	f.acted(by.Person.UUID())
	return cmp.Or(f.everywhere(ctx, "pause %s %t by %s: %s", name, paused, by.Actor, by.Note), f.refusal)
}

func (f *fakeRails) Waiting(ctx context.Context, state rail.State, connection string, limit int) (found []rail.Payment, err error) {
	f.waiting = fmt.Sprintf("%s at %q", state, connection)
	for _, p := range f.payments {
		found = append(found, p.Payment)
	}
	return found[:min(len(found), limit)], f.everywhere(ctx, "waiting")
}

func (f *fakeRails) Payments(ctx context.Context, id uuid.UUID) (found []rails.Decided, err error) {
	if err := f.everywhere(ctx, "payments of %s", id); err != nil {
		return nil, err
	}
	for _, p := range f.payments {
		if p.ID == id {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fault.New(fault.InvalidInput, "No connection has a payment %s.", id)
	}
	return found, nil
}

func (f *fakeRails) decided(ctx context.Context, what string, id uuid.UUID, by rails.Author) (rail.Payment, error) {
	f.acted(by.Person.UUID())
	return rail.Payment{}, cmp.Or(f.everywhere(ctx, "%s %s by %s: %s", what, id, by.Actor, by.Note), f.refusal)
}

func (f *fakeRails) Release(ctx context.Context, id uuid.UUID, by rails.Author) (done proposal.Outcome[rail.Payment], err error) {
	done.Done, err = f.decided(ctx, "release", id, by)
	if f.proposes {
		done.Proposal = &proposal.Proposal{ID: proposalID, Platform: ownPlatform}
	}
	return done, err
}

func (f *fakeRails) Cancel(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
	return f.decided(ctx, "cancel", id, by)
}

func (f *fakeRails) Withdraw(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
	return f.decided(ctx, "withdraw", id, by)
}

func (f *fakeRails) Move(ctx context.Context, id uuid.UUID, to string, by rails.Author) (rail.Payment, error) {
	return f.decided(ctx, "move to "+to, id, by)
}

func (f *fakeRails) MarkNotSent(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
	return f.decided(ctx, "not-sent", id, by)
}

func newRailPayment(state rail.State) rails.Decided {
	p := rails.Decided{Payment: rail.Payment{ID: paymentID.UUID(), Kind: rail.Payout, Connection: "bank-eur", State: state, Amount: usd(9_00),
		Reason: "above the limit", RecordedAt: now.Add(-50 * time.Hour)}, Decisions: []ports.RailDecision{{Decision: ports.WithdrawRailPayment,
		Author: platform.Author{Actor: "ana"}, Note: "Doubt", At: now}}, Said: ports.RailReply{Outcome: ports.Outcome{Code: "AC04"}}}
	p.Platform = ownPlatform
	return p
}

func (s *site) fillRails() {
	s.rails.listed = []rails.Listed{{RailConnectionVersion: ports.RailConnectionVersion{Connection: rail.Connection{Name: "bank-eur",
		Version: 2,
		Adapter: "partner", Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}, SetAt: now}, By: "root"}}}
	s.rails.pauses = []ports.RailPause{{Name: "SWIFT", Paused: true, By: "ana", Note: "Trouble", At: now}}
	s.rails.payments = []rails.Decided{newRailPayment(rail.InReview)}
}

func TestOperations_OfEveryPlatform(t *testing.T) {
	t.Parallel()
	// Connections belong to no platform: who operates all platforms sees them with their money, queue and cut-off times.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	for path, wants := range map[string][]string{
		"/connections":          {"bank-eur", "SEPA", ">3<", "SWIFT", "Trouble"},
		"/connections/bank-eur": {"500.00", "480.00", "unknown", "15:00", "Europe/Berlin", "wrong password", "/bank-eur/pause", "30.00"},
		"/rail-payments":        {"above the limit", "2 days", paymentID.UUID().String()},
		"/rail-payments/" + paymentID.UUID().String(): {"Payout, review", "AC04", "Doubt", "/release", "/cancel", "/move",
			base + "/payments/" + paymentID.UUID().String()},
	} {
		got := s.get(root + path)
		for _, want := range wants {
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, no %q in %s", path, got.StatusCode, want, got.body)
			}
		}
	}
	if got := s.get(root + "/rail-payments/" + paymentID.UUID().String()); strings.Contains(got.body, "/not-sent") {
		t.Error("a payment in review can be reported as not sent")
	}
	if s.get(root + "/rail-payments?state=SENT&connection=bank-eur"); s.rails.waiting != `SENT at "bank-eur"` {
		t.Errorf("waiting %s", s.rails.waiting)
	}
	for _, path := range []string{"/connections/other", "/rail-payments?state=DONE", "/rail-payments/x", "/rail-payments/" + uuid.NewString(),
		"/connections/other/pause", "/rail-payments/" + uuid.NewString() + "/release"} {
		if got := s.get(root + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	s.rails.listed[0].PausedBy = []ports.RailPause{{Name: "bank-eur"}}
	if got := s.get(root + "/connections/bank-eur"); strings.Contains(got.body, "/pause") || !strings.Contains(got.body, "/resume") {
		t.Errorf("a stopped connection: %s", got.body)
	}
}

func TestOperations_DecidedWithACode(t *testing.T) {
	t.Parallel()
	// What an operator decides is recorded with its e-mail address and reason, and needs a code. What is refused says why.
	payment := root + "/rail-payments/" + paymentID.UUID().String()
	id := paymentID.UUID().String()
	for path, want := range map[string]string{
		root + "/connections/bank-eur/pause":              "pause bank-eur true by ada@acme.example: Why",
		root + "/connections/bank-eur/resume":             "pause bank-eur false by ada@acme.example: Why",
		payment + "/release":                              "release " + id + " by ada@acme.example: Why",
		payment + "/cancel":                               "cancel " + id + " by ada@acme.example: Why",
		payment + "/withdraw":                             "withdraw " + id + " by ada@acme.example: Why",
		payment + "/move":                                 "move to bank-usd " + id + " by ada@acme.example: Why",
		payment + "/not-sent":                             "not-sent " + id + " by ada@acme.example: Why",
		base + "/jobs/" + deadJobID.String() + "/retry":   "retry [" + deadJobID.String() + "] by ada@acme.example: Why",
		base + "/jobs/" + deadJobID.String() + "/discard": "discard [" + deadJobID.String() + "] by ada@acme.example: Why",
	} {
		s := newSite(t).fill().as(person.Grant{Role: person.Operator})
		form := url.Values{"note": {"Why"}, "to": {"bank-usd"}, "code": {"1"}}
		if got := s.post(path, form); got.StatusCode < 400 || slices.Contains(s.calls.log, want) {
			t.Errorf("%s without a code: %d, %q", path, got.StatusCode, s.calls.log)
		}
		form.Set("code", "123456")
		if got := s.post(path, form); got.StatusCode != http.StatusSeeOther || !slices.Contains(s.calls.log, want) {
			t.Errorf("%s: %d, %q, want %q", path, got.StatusCode, s.calls.log, want)
		}
		if s.rails.refusal = fault.New(fault.InvalidInput, "It has left already."); strings.HasPrefix(path, root+"/platforms") {
			continue
		}
		if got := s.post(path, form); got.StatusCode != fault.InvalidInput.Status() || !strings.Contains(got.body, "It has left already.") {
			t.Errorf("%s, refused: %d %s", path, got.StatusCode, got.body)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	if got := s.get(base + "/jobs/" + uuid.NewString() + "/retry"); got.StatusCode != http.StatusNotFound {
		t.Errorf("a job that is not dead: %d", got.StatusCode)
	}
}

func TestJobs_SayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	// The list and the page of an action name what a job is about, each with its page: the first ones where they are many. What has no
	// page is named without a link.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	job := &s.jobs.all[0]
	link := func(to, name string) string { return `<a href="` + base + to + `">` + name + "</a>" }
	payment := link("/payments/"+paymentID.UUID().String(), paymentID.String())
	for _, test := range []struct {
		step     transaction.Step
		subjects []uuid.UUID
		want     []string
	}{
		{transaction.StepExpire, []uuid.UUID{paymentID.UUID()}, []string{payment}},
		{transaction.StepExpire, slices.Repeat([]uuid.UUID{paymentID.UUID()}, 5), []string{payment + ", " + payment, "2 more"}},
		{transaction.StepSendBack, []uuid.UUID{receiptID.UUID()}, []string{link("/unmatched/"+receiptID.UUID().String(), receiptID.String())}},
		{ports.StepCheckIdentity, []uuid.UUID{paymentID.UUID(), customerID.UUID()}, []string{"BeneficialOwner:" +
			paymentID.UUID().String() + ", " + link("/customers/"+customerID.UUID().String(), customerID.String())}},
		{ports.StepWriteExport, []uuid.UUID{paymentID.UUID()}, []string{"export " + paymentID.UUID().String()}},
	} {
		job.Step, job.Subjects = test.step, test.subjects
		got := s.get(base + "/jobs")
		for _, want := range test.want {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in %s", test.step, want, got.body)
			}
		}
	}
	job.Step, job.Subjects = transaction.StepExpire, []uuid.UUID{paymentID.UUID()}
	for _, action := range []string{"retry", "discard"} {
		if got := s.get(base + "/jobs/" + deadJobID.String() + "/" + action); !strings.Contains(got.body, payment) {
			t.Errorf("%s does not say which payment: %s", action, got.body)
		}
	}
}

// fakeProcesses are one process in each state.
func fakeProcesses() []ports.Process {
	return []ports.Process{{Host: "host-1", Version: "1.2.3", StartedAt: now, SeenAt: now}, {Host: "host-2", Version: "1.2.4", StartedAt: now,
		SeenAt: now.Add(-10 * time.Second)}, {Host: "host-3", Version: "1.2.2", StartedAt: now, SeenAt: now.Add(-time.Hour)},
		{Host: "host-4", Version: "1.2.2", StartedAt: now, SeenAt: now, StoppedAt: now}}
}

func (f *fakeJobs) Processes(ctx context.Context) ([]ports.Process, error) {
	if scope, ok := ports.ScopeOf(ctx); !ok || scope != (ports.Scope{AllPlatforms: true}) {
		f.t.Errorf("processes are read with the scope %+v", scope)
	}
	return fakeProcesses(), f.call("processes")
}

func (f *fakeJobs) WebhookBacklog(ctx context.Context, p ident.Platform) (ports.WebhookBacklog, error) {
	return ports.WebhookBacklog{Waiting: 7, WaitingSince: now.Add(-3 * time.Minute), Failing: ports.MaxTotal + 1}, f.read(ctx, p, "backlog")
}

func (f *fakeJobs) LastHours(ctx context.Context, p ident.Platform, n int) ([]ports.HourFigures, error) {
	hours := make([]ports.HourFigures, n)
	for i := range hours {
		hours[i].From = now.Truncate(time.Hour).Add(time.Duration(i-n+1) * time.Hour)
	}
	hours[n-1].Requests = ports.Figures{Done: 90, Refused: 7, Failed: 3, P95: 41 * time.Millisecond}
	hours[n-2].Attempts = ports.Figures{Done: 12, Failed: 2, P95: 2300 * time.Millisecond}
	return hours, f.read(ctx, p, "the last %d hours", n)
}

func TestOperations_ShowHowTheServiceRuns(t *testing.T) {
	t.Parallel()
	// Operators see the processes with their state and versions, and of a platform what waits, with a chart of its hours and the numbers.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	for path, wants := range map[string][]string{
		root + "/processes": {"host-1", "vanished", "stopped", "2 versions run at once", "1.2.4", "state=HANDED_OVER", "SEPA"},
		base + "/state": {"7, the oldest for 3 minutes", "10000 or more", "the last 24 hours, 2 in all", "2026-03-14 09:00:00 UTC",
			"Payments an hour", "Requests an hour", "Attempts to send webhooks an hour", "Chart of requests", "Numbers of requests",
			"only the latest 250", "Failed (5xx)", "No answer", `>41ms</td>`, `>2.3s</td>`, `>90</td>`,
			"/jobs?state=dead"},
	} {
		got := s.get(path)
		s.checkStructure(path, got)
		for _, want := range wants {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in %s", path, want, got.body)
			}
		}
	}
}

func TestRailPayments_ReleaseThatNeedsSecondPerson(t *testing.T) {
	t.Parallel()
	// Where a release needs a second person, the one who releases is led to the proposal that it has made.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	s.rails.proposes = true
	got := s.post(root+"/rail-payments/"+paymentID.UUID().String()+"/release", url.Values{"code": {"123456"}, "note": {"by phone"}})
	if want := base + "/proposals/" + proposalID.UUID().String(); got.Header.Get("Location") != want {
		t.Errorf("%d to %s, want %s", got.StatusCode, got.Header.Get("Location"), want)
	}
}

func TestNavigation_KeepsThePlatform(t *testing.T) {
	t.Parallel()
	// A page of no platform has the navigation and the search of the platform whose pages were open before, if the person may see that.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	s.get(base + "/jobs")
	if last := s.cookies[lastPlatform]; last == nil || last.Value != ownPlatform.UUID().String() || !last.HttpOnly {
		t.Fatalf("the cookie of the last platform is %+v", last)
	}
	if got := s.get(root + "/connections").body; !strings.Contains(got, `href="`+base+`/payments"`) || !strings.Contains(got, `action="`+base+`/search"`) {
		t.Errorf("no way back to the platform: %s", got)
	}
	for _, value := range []string{"", "x"} {
		s.cookies[lastPlatform].Value = value
		if got := s.get(root + "/connections").body; strings.Contains(got, "/payments\"") || !strings.Contains(got, "Connections") {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func TestConfirmation_OnlyAsksForWhatIsNeeded(t *testing.T) {
	t.Parallel()
	// Who is signed in by a link is not asked for a code, and nobody else reads of that.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	path := base + "/jobs/" + deadJobID.String() + "/retry"
	const byLink = "No code is needed"
	if got := s.get(path); strings.Contains(got.body, byLink) || !strings.Contains(got.body, `id="code"`) {
		t.Errorf("with a second factor: %s", got.body)
	}
	s.people.byLink = true
	if got := s.get(path); !strings.Contains(got.body, byLink) || strings.Contains(got.body, `id="code"`) {
		t.Errorf("by a link: %s", got.body)
	}
}

func TestWords_OfSpansAndProblems(t *testing.T) {
	t.Parallel()
	// One of something is in the singular, and each bad field is named once.
	for d, want := range map[time.Duration]string{time.Minute: "1 minute", 90 * time.Second: "1 minute", 2 * time.Hour: "2 hours",
		48 * time.Hour: "2 days", 41 * time.Millisecond: "41ms"} {
		if got := spanOf(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
	bad := func(name string) fault.Field { return fault.Field{Field: name, Message: "must be set"} }
	for want, f := range map[string]*fault.Error{
		"permissions must be set.":                   fault.Invalid(bad("permissions")),
		"permissions must be set. name must be set.": fault.Invalid(bad("permissions"), bad("name")),
		"It is over. name must be set.":              {Message: "It is over.", Fields: []fault.Field{bad("name")}},
		"It is over.":                                {Message: "It is over."},
	} {
		if got := problemText(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
