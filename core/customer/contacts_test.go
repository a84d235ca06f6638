package customer_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
)

// european returns a customer in Germany with an e-mail address and a phone number.
func european(t interface{ Fatal(...any) }) customer.Customer {
	r := individualRequest()
	r.Region, r.Email, r.PhoneNumber = "DE", "ana@example.com", "+491701234567"
	c, err := create(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var channels = []customer.Channel{customer.EmailChannel, customer.PhoneChannel}

func TestContacts_AllThatExistAreVerifiedBeforeKYC(t *testing.T) {
	t.Parallel()
	// A customer of a region that requires it has to verify every channel that it has. The message names what is left and how it is done.
	c, owner := european(t), productionPlatform
	for i, ch := range channels {
		err := c.CheckContacts(owner)
		f, _ := fault.As(err)
		if f == nil || f.Code != fault.Conflict || strings.Contains(f.Message, "verify-email") != (i == 0) ||
			!strings.Contains(f.Message, "/customers/"+c.ID.String()+"/verify-phone") {
			t.Errorf("with %d verified: %v", i, err)
		}
		if err := c.CheckVerifiable(ch, owner); err != nil || c.ContactStatus(ch) != customer.ContactPending {
			t.Errorf("%s: %s, %v", ch, c.ContactStatus(ch), err)
		}
		c = c.Verify(ch, later)
		if err := c.CheckVerifiable(ch, owner); !fault.Is(err, fault.Conflict) || c.ContactStatus(ch) != customer.ContactVerified {
			t.Errorf("%s again: %s, %v", ch, c.ContactStatus(ch), err)
		}
	}
	if err := c.CheckContacts(owner); err != nil || c.VerifiedPhone() != c.PhoneNumber || c.UpdatedAt.Before(later) {
		t.Errorf("verified at %s: %v", c.UpdatedAt, err)
	}
}

func TestContacts_WhereNoneIsVerified(t *testing.T) {
	t.Parallel()
	// In other regions, and where the operator has set others, nothing is shown, verified or waited for; and without a channel there is
	// nothing to verify. A customer that was there before its region required it can verify its contacts, and is not held up.
	elsewhere := productionPlatform
	elsewhere.SCARegions = []string{"CH"}
	before := european(t)
	before.Contacts.Required = false
	american := european(t)
	american.Region = "US"
	silent := european(t)
	silent.Email, silent.PhoneNumber = "", ""
	deleted := european(t)
	deleted.DeletedAt = now
	for name, test := range map[string]struct {
		customer   customer.Customer
		owner      platform.Platform
		verifiable fault.Code
		shown      bool
	}{
		"other region":        {american, productionPlatform, fault.Conflict, false},
		"set by the operator": {european(t), elsewhere, fault.Conflict, false},
		"no channels":         {silent, productionPlatform, fault.Conflict, true}, "from before": {before, productionPlatform, "", true},
		"deleted": {deleted, elsewhere, fault.CustomerDeleted, false},
	} {
		if err := test.customer.CheckContacts(test.owner); err != nil {
			t.Errorf("%s: KYC %v", name, err)
		}
		if got := test.customer.ShownBy(test.owner).NeedsSCA; got != test.shown {
			t.Errorf("%s: shown %t", name, got)
		}
		for _, ch := range channels {
			if err := test.customer.CheckVerifiable(ch, test.owner); test.verifiable == "" && err != nil || test.verifiable != "" &&
				!fault.Is(err, test.verifiable) {
				t.Errorf("%s, %s: %v", name, ch, err)
			}
		}
	}
}

func TestContacts_ChangeIsUnverified(t *testing.T) {
	t.Parallel()
	// Whatever changes of both addresses and verifications follow each other: a channel is verified exactly if its present address was
	// verified since it was set last. Each has its own code.
	addresses := map[customer.Channel][]string{customer.EmailChannel: {"ana@example.com", "bo@example.com", ""},
		customer.PhoneChannel: {"+491701234567", "+447700900123", ""}}
	rapid.Check(t, func(t *rapid.T) {
		c := european(t)
		verified := map[customer.Channel]bool{}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			ch := rapid.SampledFrom(channels).Draw(t, "channel")
			at := now.Add(time.Duration(i+1) * time.Minute)
			if rapid.Bool().Draw(t, "verify") {
				if c.CheckVerifiable(ch, productionPlatform) == nil {
					c, verified[ch] = c.Verify(ch, at), true
				}
			} else {
				to := rapid.SampledFrom(addresses[ch]).Draw(t, "address")
				verified[ch] = verified[ch] && to == c.Contact(ch)
				change := customer.Change{Type: "INDIVIDUAL", Email: &to}
				if ch == customer.PhoneChannel {
					change.Email, change.PhoneNumber = nil, &to
				}
				var err error
				if c, err = c.Update(change, productionPlatform, at); err != nil {
					t.Fatal(err)
				}
			}
			for _, ch := range channels {
				if got := c.ContactStatus(ch) == customer.ContactVerified; got != verified[ch] {
					t.Fatalf("step %d: %s is %q, want verified: %t", i, ch, c.ContactStatus(ch), verified[ch])
				}
			}
		}
	})
	c := european(t)
	if customer.ContactCodeID(c.ID, customer.EmailChannel) == customer.ContactCodeID(c.ID, customer.PhoneChannel) {
		t.Error("both channels have one code")
	}
}

func TestContacts_PhoneNumberIsChecked(t *testing.T) {
	t.Parallel()
	// A number must have its country code.
	r := individualRequest()
	r.PhoneNumber = "0170 1234567"
	if _, err := create(r); len(invalidFields(err)) != 1 || invalidFields(err)[0] != "phoneNumber" {
		t.Errorf("created with %s: %v", r.PhoneNumber, err)
	}
	if _, err := european(t).Update(customer.Change{Type: "INDIVIDUAL", PhoneNumber: &r.PhoneNumber}, productionPlatform, later); len(
		invalidFields(err)) != 1 {
		t.Errorf("changed to %s: %v", r.PhoneNumber, err)
	}
}

func TestContacts_FromFilesArePending(t *testing.T) {
	t.Parallel()
	// A row of a file may have a phone number, protected as spreadsheets need it. What came from a file is not verified.
	h := importHeader(t, individualHeader+",region,email,phoneNumber")
	c, err := h.Create(fields(individualRow+",DE,ana@example.com,'+491701234567"), productionPlatform, european(t).ID, now)
	if err != nil || c.PhoneNumber != "+491701234567" || c.ContactStatus(customer.PhoneChannel) != customer.ContactPending ||
		!fault.Is(c.CheckContacts(productionPlatform), fault.Conflict) {
		t.Errorf("%+v, %v", c, err)
	}
}
