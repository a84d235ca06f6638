package proposal_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
)

var now = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

func token(n byte) (t ident.Token) {
	if n > 0 {
		t.SetUUID(uuid.UUID{15: n})
	}
	return t
}

// The people of these tests: Ana and Ben may approve, and Eve may only look. Token 1 is Ana's, 2 Ben's, 3 Eve's; 4 is that of a
// service, 5 of one whose token Ana has made, and 6 a second one of Ana's.
var (
	ana = someone(1, "Ana", person.Finance)
	ben = someone(2, "Ben", person.Administrator)
	eve = someone(3, "Eve", person.Viewer)

	people = proposal.People{People: []person.Person{ana, ben, eve}, Tokens: []platform.Token{
		{ID: token(1), Person: ana.ID}, {ID: token(2), Person: ben.ID}, {ID: token(3), Person: eve.ID}, {ID: token(4)},
		{ID: token(5), Creator: ana.ID}, {ID: token(6), Person: ana.ID}}}
)

func someone(n byte, name string, role person.Role) person.Person {
	p := person.Person{Name: name, Email: strings.ToLower(name) + "@people.test", Status: person.Active, Grants: []person.Grant{{Role: role}}}
	p.ID.SetUUID(uuid.UUID{15: n})
	return p
}

// without returns the people without a token.
func without(id ident.Token) proposal.People {
	left := people
	left.Tokens = slices.DeleteFunc(slices.Clone(people.Tokens), func(t platform.Token) bool { return t.ID == id })
	return left
}

func pending(by platform.Author) proposal.Proposal {
	return proposal.New(ident.Proposal{}, ident.Platform{}, books.ActionAdjustment, "createLedgerAdjustment", []byte(`{}`), by, people, now)
}

func TestProposal_Approve(t *testing.T) {
	t.Parallel()
	// A proposal is approved by a person who may, and has made neither it nor the token that did, while it is pending and the
	// token of the proposer exists. On the command line it is who has signed in, and never a name.
	by := func(n byte) platform.Author { return platform.Author{Token: token(n)} }
	operator := func(name string) platform.Author { return platform.Author{Actor: name} }
	signedIn := func(p person.Person) platform.Author { return platform.Author{Actor: p.Email, Person: p.ID} }
	decided, _ := pending(by(1)).Reject(by(1), people, "", now)
	for name, test := range map[string]struct {
		p      proposal.Proposal
		by     platform.Author
		people proposal.People
		at     time.Time
		reason string // empty: approved
	}{
		"another person":              {pending(by(1)), by(2), people, now, ""},
		"of a service":                {pending(by(4)), by(1), people, now, ""},
		"of another's service":        {pending(by(5)), by(2), people, now, ""},
		"the same token":              {pending(by(1)), by(1), people, now, "Same person"},
		"another token of the person": {pending(by(1)), by(6), people, now, "Same person"},
		"of the person's service":     {pending(by(5)), by(1), people, now, "Same person"},
		"a service":                   {pending(by(1)), by(4), people, now, "Not a person"},
		"a service of another":        {pending(by(2)), by(5), people, now, "Not a person"},
		"a token that does not exist": {pending(by(1)), by(9), people, now, "Not a person"},
		"the name of the proposer":    {pending(platform.Author{Token: token(4), Actor: "Ben"}), by(2), people, now, "Same person"},
		"the address of the proposer": {pending(platform.Author{Token: token(4), Actor: "BEN@people.test"}), by(2), people, now, "Same person"},
		"a name that the proposer gave": {pending(platform.Author{Token: token(1), Actor: "Zoe"}),
			platform.Author{Token: token(2), Actor: "zoe"}, people, now, "Same person"},
		"a deleted token":           {pending(by(1)), by(2), without(token(1)), now, "Token deleted"},
		"the last moment":           {pending(by(1)), by(2), people, now.Add(proposal.Lifetime - 1), ""},
		"too late":                  {pending(by(1)), by(2), people, now.Add(proposal.Lifetime), "Proposal expired"},
		"decided":                   {decided, by(2), people, now, "Proposal decided"},
		"an operator":               {pending(by(1)), operator("ops"), people, now, "Not a person"},
		"an operator of an address": {pending(by(1)), operator("ben@people.test"), people, now, "Not a person"},
		"signed in":                 {pending(by(1)), signedIn(ben), people, now, ""},
		"signed in as the person":   {pending(by(1)), signedIn(ana), people, now, "Same person"},
		"of one who has signed in":  {pending(signedIn(ana)), by(2), people, now, ""},
		"its own token":             {pending(signedIn(ana)), by(6), people, now, "Same person"},
		"its own sign-in":           {pending(signedIn(ana)), signedIn(ana), people, now, "Same person"},
		"an address of the person":  {pending(operator("ana@people.test")), signedIn(ana), people, now, "Same person"},
		"a service with a sign-in":  {pending(by(1)), platform.Author{Token: token(4), Person: ben.ID}, people, now, "Not a person"},
	} {
		approved, err := test.p.Approve(test.by, test.people, test.at)

		f, _ := fault.As(err)
		switch {
		case test.reason != "":
			if f == nil || f.Code != fault.Conflict || f.Reason != test.reason || approved.State != test.p.State {
				t.Errorf("%s: %+v, %v", name, approved, err)
			}
		case err != nil || approved.State != proposal.Executed || approved.DecidedBy != test.by || !approved.DecidedAt.Equal(test.at) ||
			approved.DecidedByPerson.IsZero() || approved.DecidedByPerson == approved.ByPerson:
			t.Errorf("%s: %+v, %v", name, approved, err)
		}
	}
	if _, err := pending(by(1)).Approve(by(3), people, now); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a person who may only look: %v", err)
	}
}

func TestProposal_ApproveInSandbox(t *testing.T) {
	t.Parallel()
	// On a sandbox platform a token without a person stands for one, and so does the name of an operator. Nobody approves with the
	// same token, with the same name, or as a person who is known to be behind the proposal.
	sandbox := people
	sandbox.IsSandbox = true
	by := func(n byte, name string) platform.Author { return platform.Author{Token: token(n), Actor: name} }
	for name, test := range map[string]struct {
		by, approver platform.Author
		ok           bool
	}{
		"two services":             {by(4, ""), by(5, ""), true},
		"one service":              {by(4, ""), by(4, ""), false},
		"one service of two names": {by(4, "Ana"), by(4, "Ben"), false},
		"two services of one name": {by(4, "Ana"), by(5, "ana"), false},
		"a person and a service":   {by(1, ""), by(4, ""), true},
		"a person and its service": {by(5, ""), by(1, ""), false},
		"one person":               {by(1, ""), by(6, ""), false},
		"two operators":            {by(0, "Ana"), by(0, "Cem"), true},
		"one operator":             {by(0, "Cem"), by(0, "cem"), false},
	} {
		_, err := pending(test.by).Approve(test.approver, sandbox, now)
		if f, _ := fault.As(err); test.ok != (err == nil) || f != nil && f.Reason != "Same person" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := pending(by(4, "")).CheckCreate(proposal.People{IsSandbox: true, Tokens: []platform.Token{{ID: token(4)},
		{ID: token(5), Permissions: []platform.Permission{platform.Manage}}}}, 0); err != nil {
		t.Errorf("with a second token: %v", err)
	}
	if err := pending(by(4, "")).CheckCreate(proposal.People{IsSandbox: true, Tokens: []platform.Token{{ID: token(4),
		Permissions: []platform.Permission{platform.Manage}}, {ID: token(5)}}}, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a second token with MANAGE: %v", err)
	}
}

func TestProposal_NeverApprovedByOnePerson(t *testing.T) {
	t.Parallel()
	// Whoever proposes and approves, with whichever token or as an operator: an executed proposal has two persons, of whom the
	// second may approve and is not behind the first.
	anybody := rapid.Custom(func(t *rapid.T) platform.Author {
		a := platform.Author{Token: token(rapid.ByteMax(7).Draw(t, "token")),
			Actor: rapid.SampledFrom([]string{"", "Ana", "ANA@people.test", "Ben", "ben@people.test", "Ops"}).Draw(t, "actor")}
		if a.Token.IsZero() {
			a.Person = rapid.SampledFrom([]ident.Person{{}, ana.ID, ben.ID, eve.ID}).Draw(t, "person")
			a.Actor = cmp.Or(a.Actor, "Ops")
		}
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		by, approver := anybody.Draw(t, "proposer"), anybody.Draw(t, "approver")

		approved, err := pending(by).Approve(approver, people, now)

		if (err == nil) != (approved.State == proposal.Executed) {
			t.Fatalf("%+v approved by %+v: %v", by, approver, err)
		}
		if err != nil {
			return
		}
		acting, ok := people.Acting(approver)
		if !ok || acting.ID != approved.DecidedByPerson || !acting.May(person.ApproveBooks, ident.Platform{}) ||
			people.Behind(by) == acting.ID {
			t.Fatalf("%+v approved by %+v, who is %+v", by, approver, acting)
		}
	})
}

func TestProposal_RejectWithdrawsToo(t *testing.T) {
	t.Parallel()
	// The proposer and anybody else can reject a pending proposal, once, with a note of at most 500 characters.
	for _, by := range []platform.Author{{Token: token(1)}, {Token: token(2)}} {
		p := pending(platform.Author{Token: token(1)})
		if _, err := p.Reject(by, people, strings.Repeat("x", 501), now); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("a long note: %v", err)
		}
		rejected, err := p.Reject(by, people, "not yet", now)
		if err != nil || rejected.Status(now) != proposal.Rejected || rejected.Note != "not yet" || rejected.DecidedBy != by {
			t.Errorf("%+v, %v", rejected, err)
		}
		if _, err := rejected.Reject(by, people, "", now); !fault.Is(err, fault.Conflict) {
			t.Errorf("again: %v", err)
		}
	}
}

func TestProposal_FailStaysPending(t *testing.T) {
	t.Parallel()
	// A failed approval is kept until the next one; the proposal can still be approved.
	by := platform.Author{Token: token(1)}
	failed := pending(by).Fail(fault.New(fault.InsufficientBalance, "too little"), now)
	if failed.Status(now) != proposal.Pending || failed.LastError == nil || failed.LastError.Code != fault.InsufficientBalance ||
		failed.LastError.Message != "too little" {
		t.Errorf("%+v", failed)
	}
	if approved, err := failed.Approve(platform.Author{Token: token(2)}, people, now); err != nil || approved.LastError != nil {
		t.Errorf("%+v, %v", approved, err)
	}
}

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	// A request of 1 MiB can be proposed, and one byte more cannot.
	for size, ok := range map[int]bool{0: true, proposal.MaxRequest: true, proposal.MaxRequest + 1: false} {
		if err := proposal.CheckRequest(make([]byte, size)); (err == nil) != ok || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestProposal_CheckCreate(t *testing.T) {
	t.Parallel()
	// Without another person who may approve, the fault says how to invite one. At most 1000 are pending. On the command line a
	// person has to sign in.
	byAna, byService := pending(platform.Author{Token: token(1)}), pending(platform.Author{Token: token(4)})
	for name, c := range map[string]struct {
		p      proposal.Proposal
		people []person.Person
		reason string
	}{
		"nobody else":              {byAna, []person.Person{ana}, "No second person"},
		"another who may not":      {byAna, []person.Person{ana, eve}, "No second person"},
		"another who is disabled":  {byAna, []person.Person{ana, ben.Disable(now)}, "No second person"},
		"another":                  {byAna, []person.Person{ana, ben}, ""},
		"a service's":              {byService, []person.Person{ana}, ""},
		"of one who has signed in": {pending(platform.Author{Actor: "ana@people.test", Person: ana.ID}), []person.Person{ana, ben}, ""},
		"an operator's":            {pending(platform.Author{Actor: "ana@people.test"}), []person.Person{ana, ben}, "Not a person"},
	} {
		err := c.p.CheckCreate(proposal.People{Tokens: people.Tokens, People: c.people}, 0)
		if f, _ := fault.As(err); (c.reason == "") != (err == nil) || f != nil && f.Reason != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	for count, ok := range map[int]bool{0: true, proposal.MaxPending - 1: true, proposal.MaxPending: false} {
		if err := byAna.CheckCreate(people, count); (err == nil) != ok {
			t.Error(fmt.Sprint(count, " pending: ", err))
		}
	}
}
