package api

import (
	"context"
	"encoding/base64"

	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/audit"
	"causeway/app/audit/merkle"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// LedgerLog are the use cases behind the operations on the log of postings.
type LedgerLog interface {
	Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error)
	Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (ports.CheckpointPage, error)
	Keys(ctx context.Context) ([]ports.CheckpointKey, error)
	InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (audit.InclusionProof, error)
	ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (audit.ConsistencyProof, error)
}

const tagLog = "Ledger log"

type ledgerLogBody struct {
	Origin     string          `json:"origin" doc:"The name of the log, and of the keys that sign its heads." example:"causeway.ledger/0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Postings   int64           `json:"postings" doc:"How many postings there are." example:"1210"`
	Sealed     int64           `json:"sealed" doc:"How many of them the last head covers: the first ones." example:"1208"`
	Published  int64           `json:"published" doc:"The size of the last head that is known to be kept outside of the database." example:"1208"`
	Checkpoint *checkpointBody `json:"checkpoint,omitempty" doc:"The last head; left out until the first posting is sealed."`
	Keys       []ledgerLogKey  `json:"keys" doc:"The keys that sign heads, the newest first."`
}

type checkpointBody struct {
	Size     int64        `json:"size" doc:"How many postings it covers." example:"1208"`
	RootHash base64Bytes  `json:"rootHash" doc:"The root of the tree over them, in base64." example:"0iTMTuSm5y0wCe0G9593sfT4NLuxjNpcBOhIVcADBTM="`
	SealedAt httpapi.Time `json:"sealedAt" doc:"When it was signed."`
	Note     string       `json:"note" doc:"The head as it was signed: a C2SP checkpoint. Keep it, and the log can never again be another."`
}

type ledgerLogKey struct {
	ID          string        `json:"id" doc:"The key." example:"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Algorithm   string        `json:"algorithm" enum:"ED25519" doc:"How it signs."`
	PublicKey   base64Bytes   `json:"publicKey" doc:"The 32 bytes of the public key, in base64." example:"0iTMTuSm5y0wCe0G9593sfT4NLuxjNpcBOhIVcADBTM="`
	VerifierKey string        `json:"verifierKey" doc:"The same as verifiers of signed notes take it, and causeway ledger verify --key: name, hash and key." example:"causeway.ledger/0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b+1f2e3d4c+AdIkzE7kpuctMAntBvefd7H0+DS7sYzaXATiSFXAAwUz"`
	ValidFrom   httpapi.Time  `json:"validFrom" doc:"Since when it signs."`
	ValidUntil  *httpapi.Time `json:"validUntil,omitempty" doc:"Until when it signed; left out while it does. Heads of that time stay valid."`
}

type ledgerLogKeyListResponse struct {
	Data []ledgerLogKey `json:"data" doc:"The keys, the newest first."`
}

type inclusionProofBody struct {
	PostingID  httpapi.ID[ident.Posting] `json:"postingId" doc:"The posting."`
	Number     int64                     `json:"number" doc:"Its number among the platform's postings, from 1." example:"7"`
	LeafIndex  int64                     `json:"leafIndex" doc:"Its place in the tree: the number less one." example:"6"`
	Leaf       base64Bytes               `json:"leaf" doc:"The bytes of the leaf, in base64: all that the posting says." example:"Y2F1c2V3YXkgbGVhZiAxCg=="`
	LeafHash   base64Bytes               `json:"leafHash" doc:"SHA-256 of a zero byte and the leaf, in base64." example:"QqqLpIyGeL38qDFjP25MPcmumOEuYqOhg1qhMQ4GOv0="`
	Hashes     []base64Bytes             `json:"hashes" doc:"The inclusion proof of RFC 6962: the hashes beside the way from the leaf to the root, from below, in base64."`
	Checkpoint checkpointBody            `json:"checkpoint" doc:"The head whose root they lead to."`
}

type consistencyProofBody struct {
	From   checkpointBody `json:"from" doc:"The earlier head."`
	To     checkpointBody `json:"to" doc:"The later head."`
	Hashes []base64Bytes  `json:"hashes" doc:"The consistency proof of RFC 6962, in base64: the log of the later head begins with that of the earlier one."`
}

// base64Bytes are written in base64.
type base64Bytes string

func encodeBase64(b []byte) base64Bytes { return base64Bytes(base64.StdEncoding.EncodeToString(b)) }

func encodeBase64All(hashes []merkle.Hash) []base64Bytes {
	texts := make([]base64Bytes, len(hashes))
	for i, h := range hashes {
		texts[i] = encodeBase64(h[:])
	}
	return texts
}

func renderCheckpoint(h ports.SignedCheckpoint) checkpointBody {
	return checkpointBody{Size: h.Size, RootHash: encodeBase64(h.Root[:]), SealedAt: httpapi.NewTime(h.Sealed), Note: h.Note}
}

// platformScoped is something of a platform's log.
type platformScoped[T any] struct {
	platform ident.Platform
	value    T
}

func renderLedgerLogKeys(k platformScoped[[]ports.CheckpointKey]) ledgerLogKeyListResponse {
	body := ledgerLogKeyListResponse{Data: make([]ledgerLogKey, len(k.value))}
	for i, key := range k.value {
		body.Data[i] = ledgerLogKey{
			ID: key.ID.String(), Algorithm: "ED25519", PublicKey: encodeBase64(key.Public[:]), VerifierKey: audit.VerifierKey(k.platform, key),
			ValidFrom: httpapi.NewTime(key.ValidFrom), ValidUntil: optionalTime(key.ValidUntil),
		}
	}
	return body
}

func registerLedgerLog(a *httpapi.API, log LedgerLog) {
	keys := func(ctx context.Context, call httpapi.Call) (platformScoped[[]ports.CheckpointKey], error) {
		found, err := log.Keys(ctx)
		return platformScoped[[]ports.CheckpointKey]{call.Principal.Platform, found}, err
	}

	type standing struct {
		keys platformScoped[[]ports.CheckpointKey]
		ports.LogStatus
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerLog", Path: "/ledger/log", Tag: tagLog, Summary: "See how the log stands", Permission: platform.View,
		Description: "Every posting of the platform is a leaf of its log, in the order of their numbers. New ones are sealed in a signed head every minute or so. " +
			"Who keeps a head can prove later that nothing it covers was changed, moved, added or taken away.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (standing, error) {
		at, err := log.Status(ctx, call.Principal.Platform)
		if err != nil {
			return standing{}, err
		}
		public, err := keys(ctx, call)
		return standing{public, at}, err
	}, func(s standing) ledgerLogBody {
		body := ledgerLogBody{Origin: ledger.LogOrigin(s.keys.platform), Postings: s.Postings, Sealed: s.Checkpoint.Size, Published: s.PublishedSize, Keys: renderLedgerLogKeys(s.keys).Data}
		if s.Checkpoint.Size > 0 {
			head := renderCheckpoint(s.Checkpoint)
			body.Checkpoint = &head
		}
		return body
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerCheckpoint", Path: "/ledger/log/checkpoint", Tag: tagLog, Summary: "Get the last head as it is signed", Permission: platform.View,
		Description: "The signed note alone, as plain text, for tools that read C2SP checkpoints.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (string, error) {
		at, err := log.Status(ctx, call.Principal.Platform)
		if err == nil && at.Checkpoint.Size == 0 {
			err = fault.New(fault.NotFound, "Nothing has been sealed yet. Ask again a minute after the first posting.")
		}
		return at.Checkpoint.Note, err
	}, func(note string) httpapi.Text { return httpapi.Text(note) })

	type listCheckpointsParams struct{ httpapi.Paging }
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerCheckpoints", Path: "/ledger/log/checkpoints", Tag: tagLog, Summary: "List the heads of the log", Permission: platform.View,
		Description: "Every head that was signed, the newest first. Each covers all postings that the ones before it cover.",
	}, func(ctx context.Context, call httpapi.Call, in *listCheckpointsParams) (ports.CheckpointPage, error) {
		before, err := parseNumberCursor(checkpointCursor, in.Cursor)
		if err != nil {
			return ports.CheckpointPage{}, err
		}
		return log.Checkpoints(ctx, call.Principal.Platform, ports.CheckpointFilter{Before: before, Limit: in.Limit})
	}, func(p ports.CheckpointPage) httpapi.Page[checkpointBody] {
		return renderUncountedPage(p.Checkpoints, p.More, renderCheckpoint, func(h ports.SignedCheckpoint) httpapi.Cursor { return numberCursor(checkpointCursor, h.Size) })
	})

	type inclusionWanted struct {
		PostingID httpapi.ID[ident.Posting] `query:"postingId" required:"true" doc:"The posting."`
		Size      int64                     `query:"size" minimum:"1" doc:"The size of the head to prove it for. Without it, the last one."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "proveLedgerPosting", Path: "/ledger/log/proof", Tag: tagLog, Summary: "Prove that a posting is in the log", Permission: platform.View,
		Description: "The leaf of a posting and the hashes that lead from it to the root of a head, as RFC 6962 says. 409 until a head covers the posting.",
		Errors:      []fault.Code{fault.NotFound, fault.Conflict, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *inclusionWanted) (audit.InclusionProof, error) {
		return log.InclusionProof(ctx, call.Principal.Platform, in.PostingID.Value.UUID(), in.Size)
	}, func(i audit.InclusionProof) inclusionProofBody {
		return inclusionProofBody{PostingID: postingID(i.Leaf.ID), Number: i.Leaf.Seq, LeafIndex: i.Leaf.Seq - 1, Leaf: encodeBase64(i.Leaf.Encode(nil)),
			LeafHash: encodeBase64(i.LeafHash[:]), Hashes: encodeBase64All(i.Path), Checkpoint: renderCheckpoint(i.Checkpoint)}
	})

	type consistencyWanted struct {
		From int64 `query:"from" required:"true" minimum:"1" doc:"The size of the earlier head: one that you kept."`
		To   int64 `query:"to" minimum:"1" doc:"The size of the later head. Without it, the last one."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "proveLedgerConsistency", Path: "/ledger/log/consistency", Tag: tagLog, Summary: "Prove that the log only grew", Permission: platform.View,
		Description: "The hashes that prove that everything an earlier head covers stands unchanged at the beginning of what a later head covers, as RFC 6962 says.",
	}, func(ctx context.Context, call httpapi.Call, in *consistencyWanted) (audit.ConsistencyProof, error) {
		return log.ConsistencyProof(ctx, call.Principal.Platform, in.From, in.To)
	}, func(c audit.ConsistencyProof) consistencyProofBody {
		return consistencyProofBody{From: renderCheckpoint(c.From), To: renderCheckpoint(c.To), Hashes: encodeBase64All(c.Path)}
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerLogKeys", Path: "/ledger/log/keys", Tag: tagLog, Summary: "List the keys of the log", Permission: platform.View,
		Description: "The public keys that sign heads, with those that did before. Take them down once, by a way you trust: what is signed with another key is not of this log.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (platformScoped[[]ports.CheckpointKey], error) {
		return keys(ctx, call)
	}, renderLedgerLogKeys)
}
