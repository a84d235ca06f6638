package customers_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/walletproofs/real"
	"causeway/app/customers"
	"causeway/app/internal/mails"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// smsSender stands for one: text messages stay in the queue.
type smsSender struct{ ports.SMSSender }

// contactEnv has a production platform that sends mails and text messages, with a customer in Germany.
type contactEnv struct {
	*env
	admin    platform.Principal
	customer customer.Customer
}

func newContactEnv(t *testing.T) *contactEnv {
	t.Helper()
	e := newEnv(t)
	e.customers.WalletProofs = ports.WalletProofsByEnvironment{platform.Production: real.New(real.Options{})}
	e.customers.Mails = mails.New(mails.Config{IDs: e.IDs, Mailers: ports.MailersByEnvironment{platform.Production: mailer{}},
		SMS: ports.SMSSendersByEnvironment{platform.Production: smsSender{}}, From: "no-reply@example.com", MaxPerHour: 100, MaxSMSPerHour: 100})
	c := &contactEnv{env: e, admin: e.createPlatform(t, platform.Production, false)}
	var err error
	if c.customer, err = e.customers.Create(t.Context(), c.admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva",
		Region: "DE", Email: "ana@example.com", PhoneNumber: "+491701234567"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (e *contactEnv) send(ch customer.Channel) error {
	return e.customers.SendContactCode(context.Background(), e.admin.Platform, nil, e.customer.ID, ch)
}

func (e *contactEnv) confirm(ch customer.Channel, code string) (customer.Customer, error) {
	return e.customers.ConfirmContact(context.Background(), e.admin.Platform, nil, e.customer.ID, ch, code)
}

// sent returns the code and the recipient of the latest message of a kind.
func (e *contactEnv) sent(t *testing.T, kind ports.MailKind) (code, to string) {
	t.Helper()
	listed, err := e.Store.Mails(t.Context(), ports.MailFilter{Platform: e.admin.Platform, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range listed {
		if m.Kind != kind {
			continue
		}
		queued, _, _, err := e.Store.WaitingMail(t.Context(), e.admin.Platform, m.ID)
		if err != nil {
			t.Fatal(err)
		}
		code, _, _ := strings.Cut(queued.Text, " ")
		return code, queued.To
	}
	t.Fatalf("nothing of the kind %s was sent", kind)
	return "", ""
}

// wrong returns a code that is not the one.
func wrong(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

func TestContacts_VerifiedByCodes(t *testing.T) {
	t.Parallel()
	// The customer gets a code by mail and another by text message. Only the latest one of its channel verifies it, once, and then KYC can
	// begin, with a link or a verification, which before was refused.
	e := newContactEnv(t)
	links := newKYCLinks(e.Env)
	verifications := customers.NewVerifications(customers.VerificationsConfig{Store: e.Store, Clock: e.Clock, IDs: e.IDs,
		Identity: e.customers.Identity})
	begin := func() error {
		_, err := links.Create(t.Context(), e.admin.Platform, nil, e.customer.ID, "")
		_, submitted := verifications.Submit(t.Context(), e.admin, nil, e.customer.ID)
		if fault.Is(err, fault.Conflict) != fault.Is(submitted, fault.Conflict) {
			t.Errorf("link: %v, verification: %v", err, submitted)
		}
		return err
	}
	for ch, kind := range map[customer.Channel]ports.MailKind{customer.EmailChannel: ports.MailCode, customer.PhoneChannel: ports.SMSCode} {
		if err := begin(); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s is not verified: %v", ch, err)
		}
		if err := e.send(ch); err != nil {
			t.Fatal(err)
		}
		first, _ := e.sent(t, kind)
		e.Clock.Advance(time.Minute)
		if err := e.send(ch); err != nil {
			t.Fatal(err)
		}
		code, to := e.sent(t, kind)
		if to != e.customer.Contact(ch) || len(code) != customer.ContactCodeLength {
			t.Errorf("%s: %q was sent to %s", ch, code, to)
		}
		if _, err := e.confirm(ch, first); first != code && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s, the code before: %v", ch, err)
		}
		confirmed, err := e.confirm(ch, code)
		if err != nil || confirmed.ContactStatus(ch) != customer.ContactVerified || !confirmed.NeedsSCA {
			t.Fatalf("%s: %+v, %v", ch, confirmed, err)
		}
		if _, err := e.confirm(ch, code); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s again: %v", ch, err)
		}
		if err := e.send(ch); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s is sent again: %v", ch, err)
		}
	}
	if err := begin(); err != nil {
		t.Errorf("both are verified: %v", err)
	}
	read, err := e.customers.Get(t.Context(), e.admin.Platform, e.customer.ID)
	if err != nil || read.VerifiedPhone() != e.customer.PhoneNumber || read.ContactStatus(customer.EmailChannel) != customer.ContactVerified {
		t.Errorf("read %+v, %v", read, err)
	}
}

func TestContacts_CodeIsOfOneAddressAndTime(t *testing.T) {
	t.Parallel()
	// A code that was sent to an address does not verify another one that the customer has meanwhile, and none works after ten minutes.
	e := newContactEnv(t)
	if err := e.send(customer.PhoneChannel); err != nil {
		t.Fatal(err)
	}
	code, _ := e.sent(t, ports.SMSCode)
	if _, _, err := e.customers.Update(t.Context(), e.admin.Platform, platform.Service, wallet.Call{}, e.customer.ID,
		customer.Change{Type: "INDIVIDUAL",
			PhoneNumber: new("+447700900123")}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.confirm(customer.PhoneChannel, code); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the code of another number: %v", err)
	}
	if err := e.send(customer.PhoneChannel); err != nil {
		t.Fatal(err)
	}
	code, _ = e.sent(t, ports.SMSCode)
	e.Clock.Advance(customer.ContactCodeLifetime)
	if _, err := e.confirm(customer.PhoneChannel, code); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("an old code: %v", err)
	}
}

func TestContacts_GuessesAreCountedExactly(t *testing.T) {
	t.Parallel()
	// Of many wrong codes at the same time, as of many processes, five are tried; then neither the right one is accepted nor another one sent
	// until a minute has passed.
	e := newContactEnv(t)
	if err := e.send(customer.EmailChannel); err != nil {
		t.Fatal(err)
	}
	code, _ := e.sent(t, ports.MailCode)
	var running sync.WaitGroup
	var mu sync.Mutex
	counted := map[fault.Code]int{}
	for range 12 {
		running.Go(func() {
			_, err := e.confirm(customer.EmailChannel, wrong(code))
			f, _ := fault.As(err)
			mu.Lock()
			defer mu.Unlock()
			if f == nil {
				t.Errorf("a wrong code: %v", err)
				return
			}
			counted[f.Code]++
		})
	}
	running.Wait()
	if counted[fault.InvalidInput] != 5 || counted[fault.RateLimited] != 7 {
		t.Errorf("answered with %v", counted)
	}
	if _, err := e.confirm(customer.EmailChannel, code); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the right code: %v", err)
	}
	if err := e.send(customer.EmailChannel); !fault.Is(err, fault.RateLimited) {
		t.Errorf("another code: %v", err)
	}
	e.Clock.Advance(time.Minute)
	if _, err := e.confirm(customer.EmailChannel, code); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the code that was tried too often: %v", err)
	}
	if err := e.send(customer.EmailChannel); err != nil {
		t.Errorf("another code after a minute: %v", err)
	}
}

func TestContacts_RefusedWithoutSending(t *testing.T) {
	t.Parallel()
	// A customer of another region has nothing to verify, and one of nobody does not exist. If nothing can send, the operator is named
	// what to set.
	e := newContactEnv(t)
	e.customers.Mails = mails.New(mails.Config{IDs: e.IDs})
	for _, ch := range []customer.Channel{customer.EmailChannel, customer.PhoneChannel} {
		if err := e.send(ch); !fault.Is(err, fault.NotImplemented) {
			t.Errorf("%s: %v", ch, err)
		}
	}
	american, err := e.customers.Create(t.Context(), e.admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", Region: "US",
		Email: "bo@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[ident.Customer]fault.Code{american.ID: fault.Conflict,
		ident.NewCustomer(e.IDs.New, e.Clock.Now()): fault.UserNotFound} {
		e.customer.ID = id
		if err := e.send(customer.EmailChannel); !fault.Is(err, want) {
			t.Errorf("send: %v, want %s", err, want)
		}
		if _, err := e.confirm(customer.EmailChannel, "123456"); !fault.Is(err, want) {
			t.Errorf("confirm: %v, want %s", err, want)
		}
	}
	if n := e.QueryStrings(`SELECT count(*)::text FROM mails`); n[0] != "0" {
		t.Errorf("%s messages", n[0])
	}
}
