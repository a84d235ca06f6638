package e2e

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

const (
	identityToken  = "token-of-the-service"
	identitySecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

// providerEnv is a production platform whose customers are verified by a provider.
type providerEnv struct {
	reviewedBusiness
	provider *kit.IdentityProvider
	login    string   // URL of the database for the service
	flags    []string // of the service, which is always at the same address
}

func newProviderEnv(t *testing.T) *providerEnv {
	t.Helper()
	e := &providerEnv{provider: kit.NewIdentityProvider(identityToken, identitySecret)}
	server := httptest.NewServer(e.provider)
	t.Cleanup(server.Close)
	t.Cleanup(e.provider.Close)
	address, err := kit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	e.testEnv = newDatabaseEnv(t)
	if e.login, err = kit.CreateServiceLogin(waitContext(t), e.databaseURL); err != nil {
		t.Fatal(err)
	}
	e.flags = []string{"--listen", address, "--public-url", "http://" + address, "--admin-listen", "127.0.0.1:0",
		"--identity", "provider", "--identity-url", server.URL, "--identity-token", identityToken, "--identity-secret", identitySecret}
	e.start()
	e.tenant = e.createPlatform("Live", "PRODUCTION")
	return e
}

func (e *providerEnv) start() { e.server = startServerAs(e.t, e.login, e.flags...) }

// newBusinessOfTwo creates a business with two owners and submits it to the provider.
func (e *providerEnv) newBusinessOfTwo(registrationNumber string) {
	e.t.Helper()
	e.business = e.newBusiness(registrationNumber)
	e.uploadBusinessDocuments(e.business)
	e.owners[0] = e.newOwner(e.business, "Silva").wantValues(map[string]any{"kycStatus": "PENDING"}).text("id")
	e.owners[1] = e.post("/beneficial-owners", object{"customerId": e.business, "roles": []string{"UBO"}, "ownershipPercentage": 40,
		"personalInfo": object{
			"firstName": "Luc", "lastName": "Moreau", "birthDate": "1975-06-18", "nationality": "US", "address": texas, "idType": "SSN",
			"identifier": "321-54-9876"}}).
		wantStatus(201).wantValues(map[string]any{"kycStatus": "PENDING"}).text("id")
	e.verification = e.post("/verifications", object{"customerId": e.business}).wantStatus(200).wantValues(
		map[string]any{"verificationStatus": "IN_PROGRESS"}).text("id")
}

func (e *providerEnv) awaitStatus(want string) {
	e.t.Helper()
	eventually(e.t, "the verification is "+want, func() bool {
		return e.get("/verifications/"+e.verification).wantStatus(200).text("verificationStatus") == want
	})
}

var submittedEvents = []string{"READY_FOR_VERIFICATION", "IN_PROGRESS"}

func TestIdentityProvider_BusinessIsCorrectedAndApproved(t *testing.T) {
	t.Parallel()
	// A provider gets a business, its two owners and its documents, asks for a correction, and gets what
	// was corrected. It approves the owners and the business, which may pay then, but for the missing rail.
	e := newProviderEnv(t)
	e.newBusinessOfTwo("5523-CORRECT")
	wallet := e.createWallet(e.business, "")
	e.quote(wallet).wantError(403, "USER_NOT_READY")
	e.awaitStatus("RESOLVE_ERRORS")
	e.get("/verifications/" + e.verification).wantValues(map[string]any{"errors.0.resourceId": e.business, "errors.0.type": "INVALID_FIELD",
		"errors.0.field":  "address",
		"errors.0.reason": "Differs from the register."})
	if files := e.provider.Files(); files != 4 {
		t.Errorf("the provider has %d files, want 4", files)
	}

	e.patch("/customers/"+e.business, object{"customerType": "BUSINESS", "businessInfo": object{"registrationNumber": "5523041"}}).wantStatus(
		200)
	if again := e.post("/verifications", object{"customerId": e.business}).wantStatus(200).text("id"); again != e.verification {
		t.Errorf("the verification does not go on: %s after %s", again, e.verification)
	}
	e.awaitStatus("APPROVED")

	e.get("/customers/" + e.business).wantValues(map[string]any{"kybStatus": "APPROVED", "beneficialOwners.0.kycStatus": "APPROVED",
		"beneficialOwners.1.kycStatus": "APPROVED"})
	e.quote(wallet).wantError(501, "NOT_IMPLEMENTED")
	e.wantEvents(slices.Concat(submittedEvents, []string{"RESOLVE_ERRORS"}, submittedEvents, []string{"APPROVED"}), []string{"KYB_APPROVED"})
	if applications, _ := e.provider.Applications(); applications != 4 {
		t.Errorf("%d applications, want two of the business and one of each owner", applications)
	}
}

func TestIdentityProvider_BusinessIsRejected(t *testing.T) {
	t.Parallel()
	// The provider reviews and rejects for itself: the platform reads why.
	e := newProviderEnv(t)
	e.newBusinessOfTwo("5523-REJECT")
	e.awaitStatus("REJECTED")
	e.get("/verifications/" + e.verification).wantValues(map[string]any{"errors.0.type": "APPLICANT_REJECTED",
		"errors.0.reason": "Rejected by a test value."})
	e.get("/customers/" + e.business).wantValues(map[string]any{"kybStatus": "REJECTED"})

	e.newBusinessOfTwo("5523-REVIEW")
	e.awaitStatus("PENDING_MANUAL_REVIEW")
}

func TestIdentityProvider_ServiceIsKilledBeforeTheDecision(t *testing.T) {
	t.Parallel()
	// The service is killed while the provider has the business and its owners and has not answered. The
	// provider decides while the service is down, and repeats its messages. When the service is back,
	// they are applied, once.
	e := newProviderEnv(t)
	e.provider.Pause()
	e.newBusinessOfTwo("5523041")
	eventually(t, "the provider has three applications", func() bool {
		applications, _ := e.provider.Applications()
		return applications == 3
	})
	e.server.kill()
	e.provider.Resume()
	e.start()

	e.awaitStatus("APPROVED")

	e.get("/customers/" + e.business).wantValues(map[string]any{"kybStatus": "APPROVED"})
	e.wantEvents(append(slices.Clone(submittedEvents), "APPROVED"), []string{"KYB_APPROVED"})
	if applications, _ := e.provider.Applications(); applications != 3 {
		t.Errorf("%d applications, want 3", applications)
	}
}

func TestIdentityProvider_IsDown(t *testing.T) {
	t.Parallel()
	// While the provider is down, the verification stays in progress, and the log and a metric say so,
	// without personal data. When it works again, the verification goes on by itself.
	e := newProviderEnv(t)
	e.provider.SetDown(true)
	e.newBusinessOfTwo("5523041")
	e.server.awaitLine("identity provider: submit ")
	eventually(t, "the metric counts a failure", func() bool {
		_, metrics := getText(t, e.server.adminURL()+"/metrics")
		count := regexp.MustCompile(`causeway_identity_request_seconds_count{operation="submit",outcome="failed"} (\d+)`).FindStringSubmatch(
			metrics)
		return count != nil && count[1] != "0"
	})
	e.get("/verifications/" + e.verification).wantValues(map[string]any{"verificationStatus": "IN_PROGRESS"})
	e.provider.SetDown(false)

	e.awaitStatus("APPROVED")

	for _, personal := range []string{"Silva", "Moreau", "321-54-9876", "Acme", identityToken} {
		if strings.Contains(e.server.Output(), personal) {
			t.Errorf("the log has %q", personal)
		}
	}
}

func TestIdentityProvider_ApprovalOfListedNamesWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	// A provider approves a business and an owner who resemble entries of a sanctions list. The business may
	// not pay until an operator has cleared both entries.
	e := newProviderEnv(t)
	(&screenedPlatform{e.testEnv}).load("Luc Moreaux", "Acme")
	e.newBusinessOfTwo("5523041")
	wallet := e.createWallet(e.business, "")
	eventually(t, "the messages about the business and its owners were received", func() bool {
		_, metrics := getText(t, e.server.adminURL()+"/metrics")
		received := 0
		for _, count := range regexp.MustCompile(`causeway_identity_decisions_total{result="(?:applied|unchanged)"} (\d+)`).FindAllStringSubmatch(
			metrics, -1) {
			n, err := strconv.Atoi(count[1])
			if err != nil {
				t.Fatal(err)
			}
			received += n
		}
		return received == 3
	})

	e.awaitStatus("PENDING_MANUAL_REVIEW")
	e.quote(wallet).wantError(403, "USER_NOT_READY")
	e.get("/customers/" + e.business).wantValues(map[string]any{"kybStatus": "PENDING", "beneficialOwners.0.kycStatus": "APPROVED",
		"beneficialOwners.1.kycStatus": "PENDING"})
	if _, errOut, status := e.decide("approve", e.verification); status != 1 || !strings.Contains(errOut, "eu:2") {
		t.Errorf("not cleared: %d: %s", status, errOut)
	}
	e.mustDecide("approve", e.verification, "--clear", "eu:2")
	e.get("/verifications/" + e.verification).wantValues(map[string]any{"verificationStatus": "IN_PROGRESS"})
	if _, errOut, status := e.decide("approve", e.owners[1]); status != 1 || !strings.Contains(errOut, "eu:1") {
		t.Errorf("not cleared: %d: %s", status, errOut)
	}
	e.mustDecide("approve", e.owners[1], "--clear", "eu:1")

	e.get("/verifications/" + e.verification).wantValues(map[string]any{"verificationStatus": "APPROVED"})
	e.get("/customers/" + e.business).wantValues(map[string]any{"kybStatus": "APPROVED"})
	e.quote(wallet).wantError(501, "NOT_IMPLEMENTED")
}

func TestIdentityProvider_LostMessagesAreAskedFor(t *testing.T) {
	t.Parallel()
	// A provider whose messages are lost is asked for its decisions.
	e := newProviderEnv(t)
	e.server.terminate()
	e.provider.Fault = kit.SendsNothing
	e.flags = append(e.flags, "--identity-poll", "1s")
	e.start()
	e.newBusinessOfTwo("5523041")

	e.awaitStatus("APPROVED")

	e.wantEvents(append(slices.Clone(submittedEvents), "APPROVED"), []string{"KYB_APPROVED"})
}

func TestIdentityConformance_ExitStatus(t *testing.T) {
	t.Parallel()
	// The command says which rules a provider follows, and exits with 1 if it breaks one.
	folder := t.TempDir()
	token, secret := filepath.Join(folder, "token"), filepath.Join(folder, "secret")
	for path, text := range map[string]string{token: identityToken, secret: identitySecret} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for fault, want := range map[kit.IdentityFault]struct {
		status      int
		out, errOut string
	}{
		"":                  {0, "The provider follows all ", ""},
		kit.AcceptsAnyToken: {1, "FAIL  token ", "the provider breaks 1 of "},
	} {
		p := kit.NewIdentityProvider(identityToken, identitySecret)
		p.Fault = fault
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		t.Cleanup(p.Close)
		out, errOut, status := runCommand(t, nil, "identity", "conformance", "--url", server.URL, "--token-file", token, "--secret-file",
			secret, "--timeout", "1m")
		if status != want.status || !strings.Contains(out, want.out) || !strings.Contains(errOut, want.errOut) ||
			strings.Contains(out+errOut, identityToken) {
			t.Errorf("%q: status %d\n%s%s", fault, status, out, errOut)
		}
	}
	if _, errOut, status := runCommand(t, nil, "identity", "conformance", "--url", "http://identity.example.com", "--token-file", token,
		"--secret-file", secret); status != 1 || !strings.Contains(errOut, "--url") {
		t.Errorf("over http: status %d: %s", status, errOut)
	}
}
