package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/identity/manual"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/ports"
	"causeway/ports/portstest"
)

// reviewsDatabase returns a database with an individual in review.
func reviewsDatabase(t *testing.T) (url string, v verification.Verification) {
	t.Helper()
	url = pgtest.New(t)
	idGenerator := ids.New()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{},
		IDs: idGenerator, TxOf: newTx})
	now := systemClock{}.Now()
	p := portstest.SandboxPlatform(t, idGenerator, now)
	p.Environment = platform.Production
	c := portstest.ApprovedCustomer(idGenerator, now, p.ID, "maya")
	c.Status, c.FullName, c.BirthDate, c.Nationality, c.Region = customer.Pending, "Maya Lind\x1b", "1988-11-02", "SE", "SE"
	c.Address = &party.Address{Line1: "1 Elm St", City: "Lund", PostalCode: "22100", Country: "SE"}
	passport := document.Document{ID: ident.NewDocument(idGenerator.New, now), Platform: p.ID, Holder: document.Holder{Customer: c.ID},
		CreatedAt: now, UpdatedAt: now,
		Details: document.Details{Type: "PASSPORT", Country: "SE", Number: "X1", IssuingAuthority: "Police"},
		File:    document.File{Name: "passport.pdf", ContentType: document.PDF, Size: 1, Blob: idGenerator.New(now), Key: []byte("k")}}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, p); err != nil {
			return err
		}
		if err := tx.CreateCustomer(ctx, c); err != nil {
			return err
		}
		return tx.CreateDocument(ctx, passport)
	})
	service := customers.NewVerifications(customers.VerificationsConfig{
		Store: db, Clock: systemClock{}, IDs: idGenerator,
		Identity: ports.IdentityByEnvironment{platform.Production: manual.Identity{}}})
	v, err := service.Submit(t.Context(), platform.Principal{Platform: p.ID, Environment: platform.Production}, nil, c.ID)
	if err != nil || v.Status != verification.PendingManualReview {
		t.Fatalf("%s, %v: %+v", v.Status, err, v.Errors)
	}
	return url, v
}

func TestReviewsCommands(t *testing.T) {
	t.Parallel()
	// A verification is listed and shown with all data and documents, corrected on request, and approved.
	// A decision on what is not the present application is refused and says so.
	url, v := reviewsDatabase(t)
	reviews := func(args ...string) (string, int) {
		var out, errOut strings.Builder
		status := run(t.Context(), append(append([]string{"reviews"}, args...), "--database-url", url), &out, &errOut)
		return out.String() + errOut.String(), status
	}
	platformFlag := "--platform=" + v.Platform.String()

	if out, status := reviews("list"); status != 0 || !strings.Contains(out, v.ID.String()+"  PENDING_MANUAL_REVIEW") ||
		!strings.Contains(out, v.Platform.String()) {
		t.Errorf("list: %d\n%s", status, out)
	}
	shown, status := reviews("show", v.ID.String(), platformFlag)
	for _, want := range []string{v.Customer.String(), v.Submitted.ID.String(), `"Maya Lind\x1b"`, "1988-11-02", `"1 Elm St, Lund, 22100, SE"`,
		"PASSPORT", `"passport.pdf"`, `"X1"`,
		"none is loaded", "causeway documents show Document:"} {
		if status != 0 || !strings.Contains(shown, want) {
			t.Errorf("show: %d, no %q in\n%s", status, want, shown)
		}
	}
	decide := func(command, application string, args ...string) (string, int) {
		return reviews(append([]string{command, v.ID.String(), platformFlag, "--application=" + application, "--actor=ana", "--reason=ticket 17"},
			args...)...)
	}
	first := v.Submitted.ID.String()

	for _, c := range []struct {
		want string
		args []string
	}{
		{"--problem must say what is to be corrected", nil},
		{`must not have the type "SMUDGED"`, []string{"--problem=SMUDGED=x"}},
		{"--problem EXPIRED_DOCUMENT@x", []string{"--problem=EXPIRED_DOCUMENT@x=x"}},
		{"Document:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e88 is not",
			[]string{"--problem=EXPIRED_DOCUMENT@Document:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e88=x"}},
	} {
		if out, status := decide("request", first, c.args...); status != 1 || !strings.Contains(out, c.want) {
			t.Errorf("request %q: %d\n%s", c.args, status, out)
		}
	}
	if out, status := decide("request", first, "--field=birthDate=Differs; see the passport",
		"--problem=EXPIRED_DOCUMENT=Is expired"); status != 0 ||
		!strings.Contains(out, v.ID.String()+" is RESOLVE_ERRORS") ||
		!strings.Contains(out, `INVALID_FIELD `+v.Customer.String()+` birthDate "Differs; see the passport"`) {
		t.Errorf("request: %d\n%s", status, out)
	}
	if out, status := decide("approve", first); status != 1 || !strings.Contains(out, "was decided, or submitted again") {
		t.Errorf("approve after the request: %d\n%s", status, out)
	}
	if out, status := reviews("list", platformFlag); status != 0 || out != "No verification waits for a decision.\n" {
		t.Errorf("list: %d\n%s", status, out)
	}
	if out, status := reviews("show", v.ID.String(), platformFlag); status != 0 ||
		!regexp.MustCompile(`decided +\S+Z  `+v.ID.String()+`  CORRECTABLE by "ana": "ticket 17"`).MatchString(out) {
		t.Errorf("show after the request: %d\n%s", status, out)
	}
	if out, status := reviews("approve", "Customer:x", platformFlag, "--application="+first, "--actor=ana", "--reason=x"); status != 1 ||
		!strings.Contains(out, "is not the id of a verification") {
		t.Errorf("approve a customer: %d\n%s", status, out)
	}
}

func TestReviewsCommands_Decide(t *testing.T) {
	t.Parallel()
	// An operator approves or rejects; the platform sees the type and the text of a rejection.
	for command, want := range map[string]string{"approve": "is APPROVED", "reject": `is REJECTED.` + "\n" + `  APPLICANT_FRAUD`} {
		url, v := reviewsDatabase(t)
		args := []string{"reviews", command, v.ID.String(), "--platform", v.Platform.String(), "--application", v.Submitted.ID.String(),
			"--actor", "ana", "--reason", "ticket 17", "--database-url", url}
		if command == "reject" {
			args = append(args, "--type", "APPLICANT_FRAUD", "--show", "The document is not genuine.")
		}
		var out, errOut strings.Builder
		if status := run(t.Context(), args, &out, &errOut); status != 0 || !strings.Contains(out.String(), want) ||
			(command == "reject") != strings.Contains(out.String(), `"The document is not genuine."`) {
			t.Errorf("%s: %d\n%s%s", command, status, out.String(), errOut.String())
		}
	}
}

func TestScreeningCommands(t *testing.T) {
	t.Parallel()
	// A list is loaded and shown with its date. A customer whose name resembles an entry is approved only
	// when the entry is cleared. A file that is not complete changes nothing.
	url, v := reviewsDatabase(t)
	causeway := func(args ...string) (string, int) {
		var out, errOut strings.Builder
		status := run(t.Context(), append(args, "--database-url", url), &out, &errOut)
		return out.String() + errOut.String(), status
	}
	list := filepath.Join(t.TempDir(), "eu.xml")
	write := func(content string) {
		if err := os.WriteFile(list, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const entity = `<export generationDate="2026-03-04T10:00:00Z"><sanctionEntity logicalId="701"><subjectType classificationCode="P"/>
		<nameAlias wholeName="Maia Lindt" strong="true"/><citizenship countryIso2Code="SE"/></sanctionEntity>`

	if out, status := causeway("screening", "status"); status != 0 || !strings.Contains(out, "No sanctions list is loaded") {
		t.Errorf("status: %d\n%s", status, out)
	}
	write(entity + "</export>")
	if out, status := causeway("screening", "load", "--list=eu", list, "--actor=ana"); status != 0 || out != "Loaded 1 entries of the list "+
		"eu, published 2026-03-04. The customers of 1 production platforms are now screened against them; see: causeway screening status\n" {
		t.Errorf("load: %d\n%s", status, out)
	}
	write(entity)
	if out, status := causeway("screening", "load", "--list=eu", list, "--actor=ben"); status != 1 ||
		!strings.Contains(out, "line 2: unexpected EOF; nothing was changed") {
		t.Errorf("load a part: %d\n%s", status, out)
	}
	if out, status := causeway("screening", "status"); status != 0 || !regexp.MustCompile(`(?s)eu +2026-03-04 +1 +\S+Z +ana +[0-9a-f]{64}.*`+
		v.Platform.String()+` +RUNNING +0 of 1 +0 +0 `).MatchString(out) {
		t.Errorf("status: %d\n%s", status, out)
	}

	platformFlag := "--platform=" + v.Platform.String()
	if out, status := causeway("reviews", "show", v.ID.String(), platformFlag); status != 0 || !strings.Contains(out, "eu:701") ||
		!strings.Contains(out, "eu published 2026-03-04") || strings.Contains(out, "cleared before") || !strings.Contains(out, `"Maia Lindt"`) {
		t.Errorf("show: %d\n%s", status, out)
	}
	approve := []string{"reviews", "approve", v.ID.String(), platformFlag, "--application=" + v.Submitted.ID.String(), "--actor=ana",
		"--reason=ticket 17"}
	if out, status := causeway(approve...); status != 1 || !strings.Contains(out, "resembles the entry eu:701") {
		t.Errorf("approve: %d\n%s", status, out)
	}
	if out, status := causeway(append(approve, "--clear=eu:702")...); status != 1 || !strings.Contains(out, "resembles the entry eu:701") {
		t.Errorf("approve with another entry: %d\n%s", status, out)
	}
	if out, status := causeway(append(approve, "--screening-threshold=49")...); status != 1 ||
		!strings.Contains(out, "must be from 50 to 100") {
		t.Errorf("threshold: %d\n%s", status, out)
	}
	if out, status := causeway(append(approve, "--clear=eu:701")...); status != 0 || !strings.Contains(out, "is APPROVED") {
		t.Errorf("approve and clear: %d\n%s", status, out)
	}
	if out, status := causeway("reviews", "show", v.ID.String(), platformFlag); status != 0 ||
		!regexp.MustCompile(`eu:701 +cleared before; score`).MatchString(out) {
		t.Errorf("show after the approval: %d\n%s", status, out)
	}
}
