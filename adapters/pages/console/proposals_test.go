package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestProposals_DecidedAsThePersonWithACode(t *testing.T) {
	t.Parallel()
	// A decision is made as the person who has signed in, with its token of the platform, after a code of its second factor. Without
	// the right code, or with another decision, nothing is decided.
	path := base + "/proposals/" + proposalID.UUID().String()
	decide := func(form url.Values) (*site, response) {
		s := newSite(t).fill().as(person.Grant{Role: person.Finance})
		return s, s.post(path, form)
	}
	by := newPerson(person.Grant{Role: person.Finance})
	author := by.Name + " (Token:" + by.ID.UUID().String() + ")"

	s, got := decide(url.Values{"decision": {"approve"}, "code": {"123456"}})
	if want := "approve " + proposalID.String() + " by " + author; got.StatusCode != http.StatusSeeOther ||
		!slices.Contains(s.calls.log, want) || slices.Index(s.calls.log, "confirm "+by.Email) > slices.Index(s.calls.log, want) {
		t.Errorf("approved: %d, %q, want %q", got.StatusCode, s.calls.log, want)
	}
	s, got = decide(url.Values{"decision": {"reject"}, "code": {"123456"}, "note": {"Refunded"}})
	if want := "reject " + proposalID.String() + " by " + author + ": Refunded"; got.StatusCode != http.StatusSeeOther ||
		!slices.Contains(s.calls.log, want) {
		t.Errorf("rejected: %d, %q, want %q", got.StatusCode, s.calls.log, want)
	}
	for name, form := range map[string]url.Values{"a wrong code": {"decision": {"approve"}, "code": {"1"}, "note": {"kept"}},
		"no decision": {"code": {"123456"}}} {
		s, got := decide(form)
		if got.StatusCode < 400 || slices.ContainsFunc(s.calls.log, func(call string) bool {
			return strings.HasPrefix(call, "approve") || strings.HasPrefix(call, "reject")
		}) {
			t.Errorf("%s: %d, %q", name, got.StatusCode, s.calls.log)
		}
		if form.Has("note") && (!strings.Contains(got.body, person.ErrCode.Message) || !strings.Contains(got.body, "kept")) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

func TestProposals_RefusedDecisionShowsWhy(t *testing.T) {
	t.Parallel()
	// The fault of a decision is shown above the form, and the proposal stays.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	s.proposals.refusal = fault.New(fault.Conflict, "Somebody has decided it.")
	got := s.post(base+"/proposals/"+proposalID.UUID().String(), url.Values{"decision": {"approve"}, "code": {"123456"}})
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "Somebody has decided it.") ||
		!strings.Contains(got.body, `value="approve"`) {
		t.Errorf("%d\n%s", got.StatusCode, got.body)
	}
}

func TestProposals_WhoMayDecide(t *testing.T) {
	t.Parallel()
	// The one who has proposed can withdraw it and not approve; who may not decide sees why, and no form; what is decided has none.
	path := base + "/proposals/" + proposalID.UUID().String()
	own := newSite(t).fill().as(person.Grant{Role: person.Finance})
	own.proposals.all[0].ByPerson = newPerson().ID
	if got := own.get(path); strings.Contains(got.body, `value="approve"`) || !strings.Contains(got.body, "Withdraw") {
		t.Errorf("its own: %s", got.body)
	}
	if got := newSite(t).fill().as(person.Grant{Role: person.Support}).get(path); strings.Contains(got.body, `name="decision"`) ||
		!strings.Contains(got.body, "FINANCE or ADMINISTRATOR") {
		t.Errorf("without the right: %s", got.body)
	}
	decided := newSite(t).fill().as(person.Grant{Role: person.Finance})
	decided.proposals.all[0].Status = "EXECUTED"
	if got := decided.get(path); strings.Contains(got.body, `name="decision"`) {
		t.Errorf("decided: %s", got.body)
	}
}
