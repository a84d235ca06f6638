package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reviewedBusiness is a business with two owners on a production platform, in review.
type reviewedBusiness struct {
	*testEnv
	business, verification string
	// owners are the ids of the owners: Ana Silva, and Luc Moreau, who resembles eu:701.
	owners [2]string
}

func newReviewedBusiness(t *testing.T) *reviewedBusiness {
	t.Helper()
	h := newTestEnv(t)
	h.tenant = h.createPlatform("Live", "PRODUCTION")
	b := &reviewedBusiness{testEnv: h, business: h.newBusiness("5523041")}
	h.uploadBusinessDocuments(b.business)
	b.owners[0] = h.newOwner(b.business, "Silva").wantValues(map[string]any{"kycStatus": "PENDING"}).text("id")
	b.owners[1] = h.post("/beneficial-owners", object{"customerId": b.business, "roles": []string{"UBO"}, "ownershipPercentage": 40,
		"personalInfo": object{
			"firstName": "Luc", "lastName": "Moreau", "birthDate": "1975-06-18", "nationality": "US", "address": texas, "idType": "SSN",
			"identifier": "321-54-9876"}}).
		wantStatus(201).wantValues(map[string]any{"kycStatus": "PENDING"}).text("id")
	b.submit()
	return b
}

// submit submits the business, which then waits.
func (b *reviewedBusiness) submit() {
	b.t.Helper()
	b.verification = b.post("/verifications", object{"customerId": b.business}).wantStatus(200).
		wantValues(map[string]any{"verificationStatus": "PENDING_MANUAL_REVIEW"}).text("id")
}

// causeway runs a command of the operator on the platform.
func (b *reviewedBusiness) causeway(args ...string) (out, errOut string, status int) {
	b.t.Helper()
	env := []string{"DATABASE_URL=" + b.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey, "CAUSEWAY_BLOBS=folder:" +
		blobsFolder(b.t, b.databaseURL)}
	return runCommand(b.t, env, args...)
}

// show returns what the operator sees of the verification.
func (b *reviewedBusiness) show() string {
	b.t.Helper()
	out, errOut, status := b.causeway("reviews", "show", b.verification, "--platform", b.platformID)
	if status != 0 {
		b.t.Fatalf("show: %d\n%s%s", status, out, errOut)
	}
	return out
}

// decide decides on the verification or an owner, with the application that is shown now.
func (b *reviewedBusiness) decide(command, subject string, args ...string) (out, errOut string, status int) {
	b.t.Helper()
	shown := regexp.MustCompile(`(?s)` + subject + `.*?application +(\S+)`).FindStringSubmatch(b.show())
	if shown == nil {
		b.t.Fatalf("no application of %s is shown", subject)
	}
	return b.causeway(append([]string{"reviews", command, subject, "--platform", b.platformID, "--application", shown[1], "--actor", "ana",
		"--reason", "Ticket 17"}, args...)...)
}

// mustDecide is decide, which has to succeed.
func (b *reviewedBusiness) mustDecide(command, subject string, args ...string) {
	b.t.Helper()
	if out, errOut, status := b.decide(command, subject, args...); status != 0 {
		b.t.Fatalf("%s %s: %d\n%s%s", command, subject, status, out, errOut)
	}
}

// wantEvents checks the events of the verification and of the customer's status.
func (b *reviewedBusiness) wantEvents(verification, customer []string) {
	b.t.Helper()
	for id, want := range map[string][]string{b.verification: verification, b.business: customer} {
		rows, err := b.db.Query(
			`SELECT name FROM webhook_events WHERE subject_id = $1 AND type IN ('VERIFICATION_STATUS', 'CUSTOMER_STATUS') ORDER BY id`, uuidOf(id))
		if err != nil {
			b.t.Fatal(err)
		}
		var names []string
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				b.t.Fatal(err)
			}
			_, name, _ = strings.Cut(name, ".")
			names = append(names, name)
		}
		if err := rows.Err(); err != nil || !slices.Equal(names, want) {
			b.t.Errorf("events of %s: %q, %v; want %q", id, names, err, want)
		}
	}
}

// quote asks for a payment of the business.
func (b *reviewedBusiness) quote(wallet string) apiResponse {
	b.t.Helper()
	return b.post("/quotes", object{"source": object{"customerId": b.business, "currency": "USD"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": wallet},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050})
}

var inReviewEvents = []string{"READY_FOR_VERIFICATION", "IN_PROGRESS", "PENDING_MANUAL_REVIEW"}

func TestReviews_BusinessIsApproved(t *testing.T) {
	t.Parallel()
	// A business on a production platform waits, and may not pay. The operator sees its data, opens a
	// document with the command that is shown, clears an entry of a sanctions list that resembles an owner,
	// and approves the owners and the business. Then only the missing rail keeps it from paying.
	b := newReviewedBusiness(t)
	wallet := b.createWallet(b.business, "")
	b.quote(wallet).wantError(403, "USER_NOT_READY")
	list := filepath.Join(t.TempDir(), "eu.xml")
	if err := os.WriteFile(
		list, []byte(`<export generationDate="2026-03-04T10:00:00Z"><sanctionEntity logicalId="701"><subjectType classificationCode="P"/>
		<nameAlias wholeName="Luc Moreaux" strong="true"/><birthdate year="1975"/></sanctionEntity></export>`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errOut, status := b.causeway("screening", "load", "--list=eu", list, "--actor=ana"); status != 0 {
		t.Fatalf("load: %d\n%s%s", status, out, errOut)
	}

	if out, _, status := b.causeway("reviews", "list"); status != 0 ||
		!regexp.MustCompile(b.verification+` +PENDING_MANUAL_REVIEW `).MatchString(out) || !strings.Contains(out, b.platformID) {
		t.Errorf("list: %d\n%s", status, out)
	}
	shown := b.show()
	for _, want := range []string{`"Acme LLC"`, b.owners[0], b.owners[1], `"Luc Moreau"`, "321-54-9876", "SHAREHOLDER_REGISTER",
		"eu published 2026-03-04", "eu:701", `resembles +"` + b.owners[1]} {
		if !regexp.MustCompile(want).MatchString(shown) {
			t.Errorf("show has no %q:\n%s", want, shown)
		}
	}
	file := filepath.Join(t.TempDir(), "document")
	command := regexp.MustCompile(`causeway (documents show .*)`).FindStringSubmatch(shown)
	if command == nil {
		t.Fatalf("show names no command that opens a document:\n%s", shown)
	}
	if out, errOut, status := b.causeway(strings.Fields(strings.ReplaceAll(command[1], "FILE", file))...); status != 0 {
		t.Errorf("%s: %d\n%s%s", command[1], status, out, errOut)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("the opened document: %v", err)
	}

	b.mustDecide("approve", b.verification)
	b.mustDecide("approve", b.owners[0])
	if _, errOut, status := b.decide("approve", b.owners[1]); status != 1 || !strings.Contains(errOut, "resembles the entry eu:701") {
		t.Errorf("approve without clearing: %d\n%s", status, errOut)
	}
	b.get("/customers/" + b.business).wantValues(map[string]any{"kybStatus": "PENDING"})
	b.quote(wallet).wantError(403, "USER_NOT_READY")
	b.mustDecide("approve", b.owners[1], "--clear=eu:701")

	b.get("/customers/" + b.business).wantValues(map[string]any{"kybStatus": "APPROVED", "beneficialOwners.0.kycStatus": "APPROVED",
		"beneficialOwners.1.kycStatus": "APPROVED"})
	b.quote(wallet).wantError(501, "NOT_IMPLEMENTED")
	b.wantEvents(append(slices.Clone(inReviewEvents), "IN_PROGRESS", "APPROVED"), []string{"KYB_APPROVED"})
	if shown := b.show(); strings.Count(shown, `by "ana": "Ticket 17"`) != 3 ||
		!regexp.MustCompile(`eu:701 +cleared before`).MatchString(shown) {
		t.Errorf("show after the decisions:\n%s", shown)
	}
	if out, _, status := b.causeway("reviews", "list"); status != 0 || strings.Contains(out, b.verification) {
		t.Errorf("list: %d\n%s", status, out)
	}
}

func TestReviews_BusinessIsRejectedOrCorrected(t *testing.T) {
	t.Parallel()
	// The platform reads why the business or an owner was rejected, or what to correct, and never the reason
	// of the operator. What was corrected waits again.
	for name, c := range map[string]struct {
		owner           bool // else the business is decided
		command         []string
		status, kyb     string
		kind, field     string
		reason          string
		customer        []string
		correct, reopen bool
	}{
		"reject the business": {command: []string{"reject", "--type=APPLICANT_FRAUD", "--show=The register is forged."},
			status: "REJECTED", kyb: "REJECTED",
			kind: "APPLICANT_FRAUD", reason: "The register is forged.", customer: []string{"KYB_REJECTED"}},
		"reject an owner": {owner: true, command: []string{"reject", "--type=APPLICANT_SANCTIONED"}, status: "REJECTED", kyb: "REJECTED",
			kind: "APPLICANT_SANCTIONED", reason: "The verification was rejected.", customer: []string{"KYB_REJECTED"}},
		"request of the business": {command: []string{"request", "--field=businessInfo.taxId=Differs from the register."},
			status: "RESOLVE_ERRORS", kyb: "PENDING",
			kind: "INVALID_FIELD", field: "businessInfo.taxId", reason: "Differs from the register.", reopen: true},
		"request of an owner": {owner: true, command: []string{"request", "--field=personalInfo.birthDate=Differs from the passport."},
			status: "RESOLVE_ERRORS", kyb: "PENDING",
			kind: "INVALID_FIELD", field: "personalInfo.birthDate", reason: "Differs from the passport.", correct: true, reopen: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newReviewedBusiness(t)
			subject, resource := b.verification, b.business
			if c.owner {
				subject, resource = b.owners[1], b.owners[1]
			}
			b.mustDecide(c.command[0], subject, c.command[1:]...)

			want := map[string]any{"verificationStatus": c.status, "errors.0.resourceId": resource, "errors.0.type": c.kind,
				"errors.0.reason": c.reason}
			if c.field != "" {
				want["errors.0.field"] = c.field
			}
			got := b.get("/verifications/" + b.verification).wantStatus(200).wantValues(want)
			if strings.Contains(string(got.body), "Ticket 17") {
				t.Errorf("the platform reads the operator's reason: %s", got.body)
			}
			b.get("/customers/" + b.business).wantValues(map[string]any{"kybStatus": c.kyb})
			b.wantEvents(append(slices.Clone(inReviewEvents), c.status), c.customer)
			if !c.reopen {
				b.post("/verifications", object{"customerId": b.business}).wantError(400, "INVALID_INPUT")
				return
			}
			if c.correct {
				b.post("/verifications", object{"customerId": b.business}).wantStatus(200).wantValues(
					map[string]any{"verificationStatus": "RESOLVE_ERRORS"})
				b.patch("/beneficial-owners/"+subject, object{"personalInfo": object{"birthDate": "1975-06-19"}}).wantStatus(200)
			} else {
				b.patch("/customers/"+b.business, object{"customerType": "BUSINESS", "businessInfo": object{"taxId": "98-7654321"}}).wantStatus(200)
			}
			first := b.verification
			b.submit()
			if b.verification != first {
				t.Errorf("the verification does not go on: %s after %s", b.verification, first)
			}
			for _, approved := range []string{b.owners[0], b.owners[1], b.verification} {
				b.mustDecide("approve", approved)
			}
			b.get("/customers/" + b.business).wantValues(map[string]any{"kybStatus": "APPROVED"})
		})
	}
}
