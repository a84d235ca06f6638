package console

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"causeway/core/person"
)

// revealing are the pages on which personal data can be shown, with what each shows then.
var revealing = map[string][]string{
	"/payments/" + paymentID.UUID().String(): {"Quetzal Balam", "Itzamna Xibalba", "$itzamna.uma@bank.example", "Kukulkan rent",
		"Ixchel account closed", "Chaac"},
	"/customers/" + customerID.UUID().String(): {"Quetzal Balam", "quetzal.mail@mail.example", "$quetzal.uma@acme.example", "1951-02-03",
		"Cenote 5, Tikal, 97751 Balam, MX"},
	"/webhooks/" + webhookID.UUID().String():            {`FULL_NAME`, "Chaac"},
	"/reviews/" + verificationID.UUID().String():        {"Quetzal Balam", "Ixchel Chaac", "quetzal.mail@mail.example"},
	"/agent-approvals/" + agentActionID.UUID().String(): {"Balam bot", "Kukulkan rent"},
	"/breaks/" + breakID.UUID().String():                {"Tikal rent", "the reference Xibalba"},
	"/unmatched/" + receiptID.UUID().String():           {"Tikal MARCH"},
	"/receivables/" + receivableID.UUID().String():      {"Hunahpu disputes it"},
}

func personalIn(r response) (found []string) {
	for _, word := range personal {
		if strings.Contains(r.body, word) {
			found = append(found, word)
		}
	}
	return found
}

func TestPersonalData_MaskedOnEveryPage(t *testing.T) {
	t.Parallel()
	// No page and no file that is read has personal data, whatever the role; only the first letters of names, and domains.
	for _, role := range person.Roles {
		s := newSite(t).fill().as(person.Grant{Role: role})
		for _, r := range s.routes {
			if r.method != http.MethodGet {
				continue
			}
			if found := personalIn(s.visit(r, ownPlatform)); len(found) > 0 {
				t.Errorf("%s: %s shows %q", role, r, found)
			}
		}
		if len(s.people.recorded) > 0 {
			t.Errorf("%s: views are recorded where nothing was seen: %q", role, s.people.recorded)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	got := s.get(base + "/payments/" + paymentID.UUID().String())
	for _, want := range []string{"I••• X•••", "$i•••@bank.example", "Your roles do not show it"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
}

func TestPersonalData_RecordedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	// Who asks for personal data sees it in full, after it was recorded with the person, the record and the platform. If that
	// fails, nothing of it is shown.
	for path, words := range revealing {
		s := newSite(t).fill().as(person.Grant{Role: person.Support, Platform: ownPlatform})
		if before := s.get(base + path); !strings.Contains(before.body, "Show personal data") {
			t.Errorf("%s: no button", path)
		}
		got := s.post(base+path, nil)
		for _, word := range words {
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, word) {
				t.Errorf("%s: %d: no %q in %s", path, got.StatusCode, word, got.body)
			}
		}
		id := path[strings.LastIndex(path, "/")+1:]
		if len(s.people.recorded) != 1 || !strings.HasPrefix(s.people.recorded[0], "ada@acme.example sees ") ||
			!strings.Contains(s.people.recorded[0], ":"+id+" ("+id+") of "+ownPlatform.String()) {
			t.Errorf("%s: recorded %q", path, s.people.recorded)
		}
		if again := s.get(base + path); len(personalIn(again)) > 0 {
			t.Errorf("%s: shown again without a record: %q", path, personalIn(again))
		}
		for _, fails := range []error{errors.New("no connection"), http.ErrAbortHandler} {
			s.people.recordErr = fails
			if got := s.post(base+path, nil); got.StatusCode != http.StatusInternalServerError || len(personalIn(got)) > 0 {
				t.Errorf("%s: the record fails, and %q is shown: %d", path, personalIn(got), got.StatusCode)
			}
		}
	}
}

func TestPersonalData_EveryRevealIsTested(t *testing.T) {
	t.Parallel()
	// Each page that needs the right to see personal data is one of those above.
	for _, r := range newSite(t).routes {
		if strings.HasSuffix(r.pattern, "/documents/{document}") || strings.HasSuffix(r.pattern, "/statement") ||
			strings.HasSuffix(r.pattern, "/note") {
			continue // see TestReviews_DocumentsBesideTheForm, TestCustomer_StatementIsRecorded and TestCustomer_ShowsWhatItHas
		}
		_, known := revealing[strings.TrimPrefix(pathOf(r.pattern, ownPlatform), base)]
		if strings.HasPrefix(r.pattern, platformPath) && r.method == http.MethodPost && needs["POST "+strings.TrimPrefix(r.pattern,
			platformPath+"{platform}")] == person.ViewPersonalData && !known {
			t.Errorf("%s is not tested", r)
		}
	}
}
