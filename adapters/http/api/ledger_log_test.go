package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/sirupsen/logrus/hooks/test"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports/portstest"
)

// auditor is a client whose platform has sealed postings.
type auditor struct {
	*client
	db      *postgres.DB
	sealing *audit.Log
	alice   ident.InternalAccount
}

func newAuditor(t *testing.T) *auditor {
	t.Helper()
	a := &auditor{}
	a.alice.SetUUID(idGenerator.New(noon))
	a.client = newTestServer(t, pgtest.New(t), func(deps *api.Deps, db *postgres.DB) {
		key := sha256.Sum256([]byte("master"))
		box, err := encryption.New(key[:])
		if err != nil {
			t.Fatal(err)
		}
		quiet, _ := test.NewNullLogger()
		a.db = db
		a.sealing = audit.NewLog(audit.LogConfig{Log: db.LedgerLog(), Evidence: db.EvidenceLog(), Signer: checkpoints.NewKeyring(db.LedgerLog(),
			box, portstest.NewFakeClock(noon), idGenerator),
			Clock: portstest.NewFakeClock(noon), Logger: quiet.WithField("test", t.Name()), Interval: time.Minute})
		deps.Accounting = accounting.New(accounting.Config{
			Store: db, Ledger: db.Finance(), Clock: portstest.NewFakeClock(noon),
			IDs: idGenerator})
		deps.Periods = accounting.NewPeriods(accounting.PeriodsConfig{
			Store: db, Ledger: db.LedgerReader(), Finance: db.Finance(),
			Clock: portstest.NewFakeClock(noon), IDs: idGenerator})
		deps.LedgerLog = a.sealing
	}).createPlatform(t, platform.Sandbox)
	return a
}

// postDeposits posts deposits and returns their ids.
func (a *auditor) postDeposits(n int) (ids []string) {
	a.t.Helper()
	var postings []ledger.Posting
	for range n {
		p := ledger.Deposit(ledger.Header{ID: idGenerator.New(noon), Platform: a.tenant.Platform.ID, Effective: noon},
			ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(a.alice),
				Amount: money.Amount{Minor: 100, Currency: money.USD}})
		postings, ids = append(postings, p), append(ids, p.ID.String())
	}
	err := pgx.BeginFunc(a.t.Context(), a.db.Pool(), func(tx pgx.Tx) error { return ledgerdb.New().Post(a.t.Context(), tx, noon, postings) })
	if err != nil {
		a.t.Fatal(err)
	}
	return ids
}

func (a *auditor) seal() {
	a.t.Helper()
	if err := a.sealing.SealDue(context.Background()); err != nil {
		a.t.Fatal(err)
	}
}

// getJSON decodes a response with status 200.
func getJSON[T any](a *auditor, path string) (body T) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.must(200, "GET", path, "").rawBody), &body); err != nil {
		a.t.Fatal(err)
	}
	return body
}

type checkpointReply struct {
	Size     int64
	RootHash []byte
	Note     string
}

func (h checkpointReply) root() tlog.Hash { return tlog.Hash(h.RootHash) }

func TestLedgerLog_ProofsVerify(t *testing.T) {
	t.Parallel()
	// With only the responses and standard libraries, an auditor can verify that a posting
	// is in a signed checkpoint, and that a later checkpoint extends an earlier one.
	a := newAuditor(t)
	ids := a.postDeposits(300)
	a.seal()
	a.postDeposits(700)
	a.seal()
	a.postDeposits(1)

	log := getJSON[struct {
		Origin                      string
		Postings, Sealed, Published int64
		Checkpoint                  checkpointReply
		Keys                        []struct{ VerifierKey string }
	}](a, "/ledger/log")
	if log.Postings != 1001 || log.Sealed != 1000 || log.Published != 0 || log.Checkpoint.Size != 1000 || len(log.Keys) != 1 {
		t.Errorf("the status of the log is %+v", log)
	}
	verifier, err := note.NewVerifier(log.Keys[0].VerifierKey)
	if err != nil || verifier.Name() != log.Origin {
		t.Fatalf("the key %s: %v", log.Keys[0].VerifierKey, err)
	}

	for _, size := range []int64{300, 1000} {
		proof := getJSON[struct {
			LeafIndex      int64
			Leaf, LeafHash []byte
			Hashes         [][]byte
			Checkpoint     checkpointReply
		}](a, "/ledger/log/proof?postingId=Posting:"+ids[256]+"&size="+strconv.FormatInt(size, 10))
		signed, err := note.Open([]byte(proof.Checkpoint.Note), note.VerifierList(verifier))
		if err != nil {
			t.Fatal(err)
		}
		if checkpoint, err := ledger.ParseCheckpoint(signed.Text); err != nil || checkpoint.Size != size ||
			checkpoint.Root != proof.Checkpoint.root() {
			t.Errorf("the checkpoint of size %d is %+v, %v", size, checkpoint, err)
		}
		if hash := tlog.RecordHash(proof.Leaf); string(hash[:]) != string(proof.LeafHash) || !strings.Contains(string(proof.Leaf), "rails/ACH") {
			t.Errorf("the leaf is %q", proof.Leaf)
		}
		if err := tlog.CheckRecord(toHashes(proof.Hashes), size, proof.Checkpoint.root(), proof.LeafIndex,
			tlog.Hash(proof.LeafHash)); err != nil {
			t.Error(err)
		}
	}

	grown := getJSON[struct {
		From, To checkpointReply
		Hashes   [][]byte
	}](a, "/ledger/log/consistency?from=300")
	if err := tlog.CheckTree(tlog.TreeProof(toHashes(grown.Hashes)), 1000, grown.To.root(), 300, grown.From.root()); err != nil {
		t.Error(err)
	}

	checkpoint := a.must(200, "GET", "/ledger/log/checkpoint", "")
	if checkpoint.rawBody != log.Checkpoint.Note || checkpoint.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the checkpoint is %q", checkpoint.rawBody)
	}
}

func toHashes(raw [][]byte) []tlog.Hash {
	hashes := make([]tlog.Hash, len(raw))
	for i, h := range raw {
		hashes[i] = tlog.Hash(h)
	}
	return hashes
}

func TestGetLedgerLog_ShowsEvidence(t *testing.T) {
	t.Parallel()
	// The newest checkpoint of the log of evidence is shown beside that of the postings, and is a signed note.
	a := newAuditor(t)
	a.postDeposits(1)
	a.seal()
	if err := a.sealing.SealEvidenceDue(context.Background()); err != nil {
		t.Fatal(err)
	}

	log := getJSON[struct {
		Evidence struct {
			Origin     string
			Checkpoint checkpointReply
		}
	}](a, "/ledger/log")

	c := log.Evidence.Checkpoint
	if text := log.Evidence.Origin + "\n1\n" + base64.StdEncoding.EncodeToString(c.RootHash) + "\n\n— " + log.Evidence.Origin +
		" "; c.Size != 1 || !strings.HasPrefix(c.Note, text) {
		t.Errorf("the checkpoint is %+v, want the note to begin with %q", c, text)
	}
}

func TestListLedgerCheckpoints(t *testing.T) {
	t.Parallel()
	// Checkpoints are listed page by page, newest first; each platform sees only its own,
	// and the keys are complete.
	a := newAuditor(t)
	for range 3 {
		a.postDeposits(2)
		a.seal()
	}
	var sizes []int64
	for cursor := ""; ; {
		page := getJSON[struct {
			Data       []checkpointReply
			NextCursor string
		}](a, "/ledger/log/checkpoints?limit=2&cursor="+cursor)
		for _, h := range page.Data {
			sizes = append(sizes, h.Size)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(sizes) != 3 || sizes[0] != 6 || sizes[1] != 4 || sizes[2] != 2 {
		t.Errorf("the sizes are %v", sizes)
	}

	a.must(200, "GET", "/ledger/log/keys", "").assertBody(t,
		`{"data": [{"id": "*", "algorithm": "ED25519", "publicKey": "*", "verifierKey": "*", "validFrom": "2026-03-14T12:00:00.000Z"}]}`)

	other := a.createPlatform(t, platform.Sandbox)
	other.must(200, "GET", "/ledger/log/checkpoints", "").assertBody(t, `{"data": [], "hasMore": false}`)
	other.must(200, "GET", "/ledger/log", "").assertBody(t, `{"origin": "causeway.ledger/`+other.tenant.Platform.ID.UUID().String()+
		`", "postings": 0, "sealed": 0, "published": 0,
		"evidence": {"origin": "causeway.evidence/`+other.tenant.Platform.ID.UUID().String()+`", "published": 0}, "keys": ["*"]}`)
	other.must(404, "GET", "/ledger/log/checkpoint", "")
}

func TestLedgerLog_InvalidRequests(t *testing.T) {
	t.Parallel()
	// Proofs that do not exist are refused with what to do, and postings of other
	// platforms are not found.
	a := newAuditor(t)
	ids := a.postDeposits(4)
	a.seal()
	a.postDeposits(4)
	a.seal()
	late := a.postDeposits(1)
	other := &auditor{client: a.createPlatform(t, platform.Sandbox)}

	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/ledger/log/proof":                           {400, "postingId"},
		"/ledger/log/proof?postingId=nonsense&size=0": {400, "postingId"},
		"/ledger/log/proof?postingId=Posting:01900000-0000-7000-8000-000000000001":        {404, "No posting has this id"},
		"/ledger/log/proof?postingId=Posting:" + late[0]:                                  {409, "number 9 and the latest checkpoint covers 8"},
		"/ledger/log/proof?postingId=Posting:" + ids[0] + "&size=5":                       {400, "must be the size of a checkpoint"},
		"/ledger/log/proof?postingId=Posting:" + ids[0] + "&size=99999999999999999999999": {400, "size"},
		"/ledger/log/consistency":                       {400, "from"},
		"/ledger/log/consistency?from=8&to=4":           {400, "must be at most 4"},
		"/ledger/log/consistency?from=3":                {400, "must be the size of a checkpoint"},
		"/ledger/log/consistency?from=4&to=9":           {400, "must be the size of a checkpoint"},
		"/ledger/log/checkpoints?cursor=eyJpZCI6ImEifQ": {400, "cursor"},
	} {
		if got := a.send(http.MethodGet, path, ""); got.status != want.status || !strings.Contains(got.rawBody, want.says) {
			t.Errorf("%s: %d %s", path, got.status, got.rawBody)
		}
	}
	a.must(400, "GET", "/ledger/log/proof?postingId=Posting:"+ids[0]+"&size=9", "")
	if got := other.send(http.MethodGet, "/ledger/log/proof?postingId=Posting:"+ids[0], ""); got.status != 404 {
		t.Errorf("another platform's posting: %d %s", got.status, got.rawBody)
	}
	blind := a.withPermissions(platform.Transact)
	if got := blind.send(http.MethodGet, "/ledger/log", ""); got.status != 403 {
		t.Errorf("without VIEW: %d", got.status)
	}
}

func TestLedgerLog_TamperedDataHasNoProof(t *testing.T) {
	t.Parallel()
	// If the stored hashes or the posting were changed, the response is an internal error
	// and not a proof.
	a := newAuditor(t)
	ids := a.postDeposits(4)
	a.seal()
	owner := pgtest.Connect(t, a.url)
	if _, err := owner.Exec(t.Context(), "UPDATE ledger_log_state SET partial_tiles = set_byte(partial_tiles, 40, get_byte(partial_tiles, "+
		"40) # 1)"); err != nil {
		t.Fatal(err)
	}
	if got := a.send(http.MethodGet, "/ledger/log/proof?postingId=Posting:"+ids[0], ""); got.status != 500 {
		t.Errorf("from a forged tree: %d %s", got.status, base64.StdEncoding.EncodeToString([]byte(got.rawBody)))
	}
}
