package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/app/platforms"
	"causeway/app/webhooks"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/requestlog"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

var (
	tokenID   = numbered(ident.Token{}, 70)
	requestID = numbered(ident.RequestLog{}, 71)
)

func (f *fakeWebhooks) Redeliver(ctx context.Context, p ident.Platform, r ports.Redelivery) (int, error) {
	return 1, f.read(ctx, p, "redeliver %s %s %s from %s to %s", r.IDs, r.Status, "created", r.Created.From.Format(time.RFC3339),
		r.Created.To.Format(time.RFC3339))
}

func (f *fakeWebhooks) SendTest(ctx context.Context, p ident.Platform) (webhooks.TestResult, error) {
	return webhooks.TestResult{URL: "https://acme.example/hook", StatusCode: 204, Response: "thanks"}, f.read(ctx, p, "test")
}

// fakeDevelopers is what moves payments on, tokens and the log of requests.
type fakeDevelopers struct {
	*calls
	tokens  []platform.Token
	entries []requestlog.Entry
	readTo  uuid.UUID
	filter  ports.RequestLogFilter
	refusal error
}

func (f *fakeDevelopers) act(ctx context.Context, p ident.Platform, format string, args ...any) (transaction.Transaction, error) {
	return transaction.Transaction{}, cmp.Or(f.read(ctx, p, format, args...), f.refusal)
}

func (f *fakeDevelopers) Approve(ctx context.Context, p ident.Platform, id ident.Transaction, receiver map[string]string,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "approve %s %v", id, receiver)
}

func (f *fakeDevelopers) Reject(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "reject %s %s", id, reason)
}

func (f *fakeDevelopers) SimulatePayment(ctx context.Context, p ident.Platform, in payments.SendRequest,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "pay in %s %d %s", in.Reference, *in.Amount, in.Currency)
}

func (f *fakeDevelopers) ExpireQuote(ctx context.Context, p ident.Platform, id ident.Quote,
	_ *ports.IdempotentRequest) (quote.WithStatus, error) {
	_, err := f.act(ctx, p, "expire %s", id)
	return quote.WithStatus{}, err
}

func (f *fakeDevelopers) SettleNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "settle %s", id)
}

func (f *fakeDevelopers) ReturnNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "return %s", id)
}

func (f *fakeDevelopers) CancelTransaction(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "cancel %s %s", id, reason)
}

func (f *fakeDevelopers) TakeBackNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	_ *ports.IdempotentRequest) (transaction.Transaction, error) {
	return f.act(ctx, p, "take back %s", id)
}

func (f *fakeDevelopers) Tokens(ctx context.Context, p ident.Platform, filter ports.TokenFilter) (ports.Page[platform.Token], error) {
	return listed(f.tokens, filter.Paging, func(t platform.Token) (uuid.UUID, bool) { return t.ID.UUID(), true }), f.read(ctx, p, "tokens")
}

func (f *fakeDevelopers) CreateTokenBy(ctx context.Context, p ident.Platform, by person.Person, name string,
	may []platform.Permission) (platforms.IssuedToken, error) {
	f.acted(by.ID.UUID())
	return platforms.IssuedToken{Token: platform.Token{Name: name, Permissions: may, ClientID: "client-1"}, Secret: "s3cr3t"},
		cmp.Or(f.read(ctx, p, "create token %s %s by %s", name, may, by.Email), f.refusal)
}

func (f *fakeDevelopers) DeleteTokenBy(ctx context.Context, p ident.Platform, by person.Person, id ident.Token) error {
	f.acted(by.ID.UUID())
	return f.read(ctx, p, "revoke %s by %s", id, by.Email)
}

func (f *fakeDevelopers) List(ctx context.Context, p ident.Platform, filter ports.RequestLogFilter) (ports.Page[requestlog.Entry], error) {
	f.filter = filter
	page := listed(f.entries, filter.Paging, func(e requestlog.Entry) (uuid.UUID, bool) { return e.ID.UUID(), true })
	page.ReadTo = f.readTo
	return page, f.read(ctx, p, "requests")
}

func (f *fakeDevelopers) Entry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error) {
	if err := f.read(ctx, p, "request"); err != nil {
		return requestlog.Entry{}, err
	}
	for _, e := range f.entries {
		if e.ID == id {
			return e, nil
		}
	}
	return requestlog.Entry{}, fault.New(fault.NotFound, "There is no such request.")
}

func (s *site) fillDevelopers() {
	s.developers.tokens = []platform.Token{{ID: tokenID, Name: "checkout", Permissions: []platform.Permission{platform.View},
		ClientID: "client-1", CreatedAt: now}, {ID: numbered(tokenID, 72), Name: "ana@acme.example", Person: newPerson().ID, CreatedAt: now}}
	s.developers.entries = []requestlog.Entry{{ID: requestID, Token: tokenID, ArrivedAt: now, Method: "POST", Path: "/quotes",
		Operation: "createQuote", Status: 422, Code: "INVALID_INPUT", Duration: 12 * time.Millisecond, Replayed: true,
		Request:  requestlog.Content{Type: "application/json", Size: 12, Body: `{"amount":7,"name":"***"}`},
		Response: requestlog.Content{Type: "application/json", Size: 90_000, Body: `{"cut":`, Cut: true}}}
}

func TestDevelopers_TokenShownOnce(t *testing.T) {
	t.Parallel()
	// The secret of a new token is on the page after it, and on no other. It has the permissions that were chosen, and is made as the
	// person, after a code. A token that is revoked needs one too.
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	form := url.Values{"name": {" checkout "}, "may-VIEW": {"yes"}, "may-TRANSACT": {"yes"}, "code": {"123456"}}
	got := s.post(base+"/create-token", form)
	want := "create token checkout [VIEW TRANSACT] by ada@acme.example"
	if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "s3cr3t") || !slices.Contains(s.calls.log, want) {
		t.Errorf("%d, %q, want %q: %s", got.StatusCode, s.calls.log, want, got.body)
	}
	if got := s.get(base + "/tokens"); strings.Contains(got.body, "s3cr3t") || !strings.Contains(got.body, "a person") ||
		!strings.Contains(got.body, "/tokens/"+tokenID.UUID().String()+"/revoke") {
		t.Errorf("tokens: %s", got.body)
	}
	s.developers.refusal = fault.Invalid(fault.Field{Field: "permissions", Message: "must have at least one"})
	if got := s.post(base+"/create-token", form); !strings.Contains(got.body, "permissions must have at least one.") ||
		!strings.Contains(got.body, `value=" checkout "`) || strings.Contains(got.body, "s3cr3t") {
		t.Errorf("refused: %s", got.body)
	}
	revoke := base + "/tokens/" + tokenID.UUID().String() + "/revoke"
	if got := s.post(revoke, url.Values{"code": {"1"}}); got.StatusCode < 400 || slices.Contains(s.calls.log,
		"revoke "+tokenID.String()+" by ada@acme.example") {
		t.Errorf("revoked without a code: %d", got.StatusCode)
	}
	if s.post(revoke, url.Values{"code": {"123456"}}); !slices.Contains(s.calls.log, "revoke "+tokenID.String()+" by ada@acme.example") {
		t.Errorf("not revoked: %q", s.calls.log)
	}
	if got := newSite(t).fill().as(person.Grant{Role: person.Viewer}).get(base + "/tokens"); strings.Contains(got.body, "/revoke") ||
		strings.Contains(got.body, "/create-token") {
		t.Errorf("a viewer may change tokens: %s", got.body)
	}
}

func TestDevelopers_LogOfRequests(t *testing.T) {
	t.Parallel()
	// The log is filtered by what the API filters it by, and shows bodies as they are kept: masked, and with what is missing.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	id := uuid.New()
	s.get(base + "/requests?status=4&operation=createQuote&path=/quotes&key=k&id=" + id.String())
	if f := s.developers.filter; len(f.Statuses) != 1 || f.Statuses[0] != (requestlog.StatusRange{From: 400, To: 499}) ||
		f.Operation != "createQuote" || !slices.Equal(f.PathPrefixes, []string{"/v/quotes", "/quotes"}) || f.IdempotencyKey != "k" ||
		f.RequestID != id {
		t.Errorf("filter %+v", f)
	}
	s.get(base + "/requests?about=" + escapeQuery(paymentID.String()+" "+id.String()))
	if want := []uuid.UUID{paymentID.UUID(), id}; !slices.Equal(s.developers.filter.Subjects, want) {
		t.Errorf("requests about %v, want %v", s.developers.filter.Subjects, want)
	}
	three := strings.Repeat(id.String()+"+", 3)
	for _, query := range []string{"id=x", "about=x", "about=" + three} {
		if got := s.get(base + "/requests?" + query); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
	if got := s.get(base + "/requests"); !strings.Contains(got.body, "POST /quotes") || !strings.Contains(got.body, "INVALID_INPUT") {
		t.Errorf("requests: %s", got.body)
	}
	s.developers.readTo = uuid.MustParse("01a2270d-e7dc-7000-8000-0000000e7f1b") // 2026-11-29 11:25:52 UTC
	if got := s.get(base + "/requests?path=/rare"); !strings.Contains(got.body, "2026-11-29 11:25:52 UTC") || !strings.Contains(got.body,
		"/requests?after=01a2270d-e7dc-7000-8000-0000000e7f1b&amp;path=%2Frare") || s.developers.filter.MaxRead == 0 {
		t.Errorf("looked back: %s", got.body)
	}
	got := s.get(base + "/requests/" + requestID.UUID().String())
	for _, want := range []string{"&#34;amount&#34;: 7", "***", "The body is not whole.", "{&#34;cut&#34;:", "saved before"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
}

func TestWebhooks_SentAgain(t *testing.T) {
	t.Parallel()
	// One webhook is sent again, or all of a time that failed; a test shows what the endpoint answers.
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	webhook := base + "/webhooks/" + webhookID.UUID().String()
	if got := s.get(webhook); !strings.Contains(got.body, webhook+"/redeliver") {
		t.Errorf("no button: %s", got.body)
	}
	if got := s.post(webhook+"/redeliver", nil); got.Header.Get("Location") != webhook || !slices.ContainsFunc(s.calls.log,
		func(call string) bool { return strings.HasPrefix(call, "redeliver ["+webhookID.String()+"]") }) {
		t.Errorf("%d, %q", got.StatusCode, s.calls.log)
	}
	s.post(base+"/redeliver-failed", url.Values{"from": {"2026-03-13T10:00"}, "to": {"2026-03-14T10:00"}})
	if want := "redeliver [] FAILED created from 2026-03-13T10:00:00Z to 2026-03-14T10:00:00Z"; !slices.Contains(s.calls.log, want) {
		t.Errorf("%q, want %q", s.calls.log, want)
	}
	if got := s.post(base+"/redeliver-failed", url.Values{"from": {"x"}}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("without times: %d", got.StatusCode)
	}
	if got := s.post(base+"/test-webhook", nil); !strings.Contains(got.body, "204") || !strings.Contains(got.body, "thanks") {
		t.Errorf("test: %s", got.body)
	}
}

func TestPayment_ButtonsOfItsState(t *testing.T) {
	t.Parallel()
	// A payment has the buttons that its state and the roles allow. In production it has none of the sandbox, by hand neither.
	isOwedFor := false
	buttons := func(role person.Role, environment platform.Environment, edit func(*transaction.Transaction)) string {
		s := newSite(t).fill().as(person.Grant{Role: role})
		s.platforms.all[0].Environment = environment
		edit(&s.accounting.timeline.Transaction)
		if !isOwedFor {
			s.accounting.timeline.Events = slices.DeleteFunc(s.accounting.timeline.Events, func(e accounting.TimelineEvent) bool {
				return e.Type == accounting.TimelineReceivable
			})
		}
		var names []string
		for _, n := range s.get(base + "/payments/" + paymentID.UUID().String()).elements("a") {
			to := attribute(n, "href")
			if attribute(n, "class") == "button" {
				names = append(names, to[strings.LastIndex(to, "/")+1:])
			}
		}
		return strings.Join(names, " ")
	}
	state := func(status transaction.Status) func(*transaction.Transaction) {
		return func(t *transaction.Transaction) { t.State = transaction.State{Status: status} }
	}
	asks := func(t *transaction.Transaction) {
		t.Type, t.State, t.Approval = transaction.Incoming, transaction.State{Status: transaction.Pending}, &transaction.Approval{Deadline: now}
	}
	byBank := func(t *transaction.Transaction) {
		t.State, t.DestinationRail = transaction.State{Status: transaction.Processing, Stage: transaction.Converted}, "ACH"
		t.Source.UMA, t.Destination.UMA = "", ""
	}
	byChain := func(t *transaction.Transaction) {
		byBank(t)
		t.State, t.SourceAccount = transaction.State{Status: transaction.Processing}, ledger.Wallet(t.Source.InternalAccount)
	}
	paid := func(t *transaction.Transaction) {
		t.State = transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}
	}
	collected := func(t *transaction.Transaction) {
		paid(t)
		t.Source = transaction.Endpoint{ExternalAccount: numbered(ident.ExternalAccount{}, 17)}
	}
	id := paymentID.UUID().String()
	for name, test := range map[string]struct{ got, want string }{
		"waits for money":       {buttons(person.Support, platform.Sandbox, state(transaction.Pending)), "pay-in expire redeliver"},
		"at a partner":          {buttons(person.Support, platform.Sandbox, state(transaction.Processing)), "settle redeliver"},
		"paid":                  {buttons(person.Support, platform.Sandbox, paid), "return redeliver"},
		"collected and paid":    {buttons(person.Support, platform.Sandbox, collected), "return take-back redeliver"},
		"failed":                {buttons(person.Support, platform.Sandbox, state(transaction.Failed)), "redeliver"},
		"a viewer":              {buttons(person.Viewer, platform.Sandbox, state(transaction.Completed)), ""},
		"in production":         {buttons(person.Support, platform.Production, state(transaction.Completed)), "redeliver"},
		"for operators":         {buttons(person.Operator, platform.Production, state(transaction.Processing)), "redeliver release cancel move"},
		"at a bank":             {buttons(person.Operator, platform.Sandbox, byBank), "cancel settle redeliver"},
		"from a wallet":         {buttons(person.Operator, platform.Sandbox, byChain), "settle redeliver"},
		"at a bank, of support": {buttons(person.Support, platform.Sandbox, byBank), "settle redeliver"},
		"asks for an approval":  {buttons(person.Compliance, platform.Production, asks), "approve reject"},
		"asks, and not support": {buttons(person.Support, platform.Production, asks), "redeliver"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", name, test.got, test.want)
		}
	}
	isOwedFor = true
	if got := buttons(person.Support, platform.Sandbox, collected); got != "return redeliver" {
		t.Errorf("taken back before: %q", got)
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	s.platforms.all[0].Environment = platform.Production
	if got := s.post(base+"/payments/"+id+"/settle", nil); got.StatusCode != http.StatusNotFound || slices.Contains(s.calls.log,
		"settle "+paymentID.String()) {
		t.Errorf("settled in production: %d", got.StatusCode)
	}
}

func TestPayment_MovedOn(t *testing.T) {
	t.Parallel()
	// Each button does what it says; what moves money needs a code, and the sandbox does not. What is refused says why.
	path := base + "/payments/" + paymentID.UUID().String()
	for action, test := range map[string]struct {
		role person.Role
		want string
	}{
		"approve": {person.Compliance, "approve " + paymentID.String() + " map[FULL_NAME:Ana]"}, "reject": {person.Compliance,
			"reject " + paymentID.String() + " Unknown"}, "pay-in": {person.Support, "pay in CWREF123 5025 USD"},
		"cancel": {person.Operator, "cancel " + paymentID.String() + " Unknown"},
		"settle": {person.Support, "settle " + paymentID.String()}, "return": {person.Support, "return " + paymentID.String()},
		"take-back": {person.Support, "take back " + paymentID.String()},
		"expire":    {person.Support, "expire " + numbered(ident.Quote{}, 14).String()},
	} {
		s := newSite(t).fill().as(person.Grant{Role: test.role})
		s.accounting.timeline.Transaction.Approval = &transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME"}}}
		form := url.Values{"info-FULL_NAME": {"Ana"}, "info-OTHER": {"x"}, "note": {"Unknown"}, "amount": {"50.25"}}
		if got := s.post(path+"/"+action, form); test.role != person.Support && (got.StatusCode < 400 || slices.Contains(s.calls.log,
			test.want)) {
			t.Errorf("%s without a code: %d", action, got.StatusCode)
		}
		form.Set("code", "123456")
		if got := s.post(path+"/"+action, form); got.Header.Get("Location") != path || !slices.Contains(s.calls.log, test.want) {
			t.Errorf("%s: %d, %q, want %q", action, got.StatusCode, s.calls.log, test.want)
		}
		recorded := slices.IndexFunc(s.calls.log, func(call string) bool { return strings.HasPrefix(call, "ada@acme.example: ") })
		if recorded < 0 || recorded > slices.Index(s.calls.log, test.want) || !strings.Contains(s.calls.log[recorded], paymentID.String()) {
			t.Errorf("%s: the person is not recorded before: %q", action, s.calls.log)
		}
		s.developers.refusal = fault.New(fault.Conflict, "Nothing waits to be settled.")
		if got := s.post(path+"/"+action, form); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "Nothing waits") {
			t.Errorf("%s, refused: %d", action, got.StatusCode)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	s.people.recordErr = errors.New("no database")
	if s.post(path+"/settle", nil); slices.Contains(s.calls.log, "settle "+paymentID.String()) {
		t.Error("settled, and nobody was recorded")
	}
	s = newSite(t).fill().as(person.Grant{Role: person.Support})
	for _, amount := range []string{"x", "-1", "1.234"} {
		if got := s.post(path+"/pay-in", url.Values{"amount": {amount}}); got.StatusCode != fault.InvalidInput.Status() ||
			!strings.Contains(got.body, "must be an amount in USD") {
			t.Errorf("amount %s: %d %s", amount, got.StatusCode, got.body)
		}
	}
}

func TestPayment_ConnectionsAndStoppedJobs(t *testing.T) {
	t.Parallel()
	// A payment shows what its connection says, with the partner's words masked, and the jobs about it that have stopped. A button leads
	// to the page that says what it does. Who may not see connections sees none of it, and a sandbox has none.
	path := base + "/payments/" + paymentID.UUID().String()
	for role, shows := range map[person.Role]bool{person.Operator: true, person.Support: false, person.Viewer: false} {
		s := newSite(t).fill().as(person.Grant{Role: role})
		s.platforms.all[0].Environment = platform.Production
		s.jobs.all[0].Subjects = []uuid.UUID{paymentID.UUID()}
		s.rails.payments[0].Said.Text = "Ixchel account closed"
		got := s.get(path)
		for _, want := range []string{"Connection: Payout, review", "bank-eur", "I••• a••• c•••", "/rail-payments/" + paymentID.UUID().String() +
			"/cancel", "goes on when these jobs are retried", "/jobs/" + deadJobID.String() + "/retry"} {
			if strings.Contains(got.body, want) != shows && (shows || want != "I••• a••• c•••") {
				t.Errorf("%s: shows %q: %t", role, want, !shows)
			}
		}
		s.platforms.all[0].Environment = platform.Sandbox
		if strings.Contains(s.get(path).body, "Connection: ") {
			t.Errorf("%s: a sandbox has connections", role)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	s.platforms.all[0].Environment, s.rails.payments = platform.Production, nil
	if got := s.get(path); got.StatusCode != http.StatusOK || strings.Contains(got.body, "Connection: ") {
		t.Errorf("a payment that no connection carries: %d", got.StatusCode)
	}
	s = newSite(t).fill().as(person.Grant{Role: person.Support})
	if got := s.post(path+"/redeliver", nil); got.Header.Get("Location") != path || !slices.ContainsFunc(s.calls.log, func(call string) bool {
		return strings.HasPrefix(call, "redeliver ["+webhookID.String()+"] ")
	}) {
		t.Errorf("webhooks: %d %q", got.StatusCode, s.calls.log)
	}
	if got := s.get(path + "/expire"); !strings.Contains(got.body, "cannot be undone") || !strings.Contains(got.body, "100.50 USD") ||
		!strings.Contains(got.body, "InternalAccount:") {
		t.Errorf("the page of an action says too little: %s", got.body)
	}
}

func TestWebhooks_EndpointIsSet(t *testing.T) {
	t.Parallel()
	// An administrator sets the endpoint after a code, as itself; what the API refuses is refused with the same words. Others read
	// whom to ask.
	page, form := base+"/webhook-endpoint", url.Values{"webhookEndpoint": {" https://pay.example/hooks "}, "code": {"1"}}
	s := newSite(t).as(person.Grant{Role: person.Administrator})
	if got := s.get(base + "/webhooks"); !strings.Contains(got.body, page) {
		t.Errorf("%s", got.body)
	}
	isSet := func(call string) bool {
		return strings.HasPrefix(call, "set the endpoint https://pay.example/hooks by ada@acme.example")
	}
	if got := s.post(page, form); got.StatusCode != http.StatusUnauthorized || slices.ContainsFunc(s.calls.log, isSet) {
		t.Errorf("without a code: %d, calls %q", got.StatusCode, s.calls.log)
	}
	form.Set("code", "123456")
	if got := s.post(page, form); got.Header.Get("Location") != base+"/webhooks" || !slices.ContainsFunc(s.calls.log, isSet) {
		t.Errorf("%d, calls %q", got.StatusCode, s.calls.log)
	}
	form.Set("webhookEndpoint", "http://pay.example/hooks")
	if got := s.post(page, form); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "webhookEndpoint must") ||
		!strings.Contains(got.body, `value="http://pay.example/hooks"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	s = newSite(t).as(person.Grant{Role: person.Support})
	if got := s.get(base + "/test-webhook"); !strings.Contains(got.body, "an administrator sets one") || strings.Contains(got.body, page) {
		t.Errorf("%s", got.body)
	}
}
