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

// LedgerLog holds the use cases of the ledger log.
type LedgerLog interface {
	Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error)
	EvidenceStatus(ctx context.Context, p ident.Platform) (ports.EvidenceStatus, error)
	Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (ports.CheckpointPage, error)
	Keys(ctx context.Context) ([]ports.CheckpointKey, error)
	InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (audit.InclusionProof, error)
	ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (audit.ConsistencyProof, error)
}

const tagLog = "Ledger log"

type ledgerLogBody struct {
	Origin     string          `json:"origin" doc:"Name of the log and of its signing keys." example:"causeway.ledger/0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Postings   int64           `json:"postings" doc:"Number of postings." example:"1210"`
	Sealed     int64           `json:"sealed" doc:"Number of postings covered by the latest checkpoint." example:"1208"`
	Published  int64           `json:"published" doc:"Size of the latest checkpoint published outside of the database." example:"1208"`
	Checkpoint *checkpointBody `json:"checkpoint,omitempty" doc:"Latest checkpoint. Omitted before the first one."`
	Evidence   evidenceLogBody `json:"evidence" doc:"The log of evidence: hashes of what is recorded beside the postings and never changes."`
	Keys       []ledgerLogKey  `json:"keys" doc:"Signing keys of both logs, newest first."`
}

type evidenceLogBody struct {
	Origin     string              `json:"origin" doc:"Name of the log of evidence, and of its signing keys." example:"causeway.evidence/0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Published  int64               `json:"published" doc:"Size of the latest checkpoint published outside of the database." example:"96"`
	Checkpoint *evidenceCheckpoint `json:"checkpoint,omitempty" doc:"Latest checkpoint. Omitted before the first one."`
}

type evidenceCheckpoint struct {
	Size     int64        `json:"size" doc:"Number of leaves that the checkpoint covers. A leaf has the facts that were sealed together." example:"96"`
	RootHash base64Bytes  `json:"rootHash" doc:"Root hash of the Merkle tree, in base64." example:"0iTMTuSm5y0wCe0G9593sfT4NLuxjNpcBOhIVcADBTM="`
	SealedAt httpapi.Time `json:"sealedAt" doc:"Time the checkpoint was signed."`
	Note     string       `json:"note" doc:"Signed checkpoint in C2SP format. Keep it to detect any later change of the facts."`
}

type checkpointBody struct {
	Size     int64        `json:"size" doc:"Number of postings that the checkpoint covers." example:"1208"`
	RootHash base64Bytes  `json:"rootHash" doc:"Root hash of the Merkle tree, in base64." example:"0iTMTuSm5y0wCe0G9593sfT4NLuxjNpcBOhIVcADBTM="`
	SealedAt httpapi.Time `json:"sealedAt" doc:"Time the checkpoint was signed."`
	Note     string       `json:"note" doc:"Signed checkpoint in C2SP format. Keep it to detect any later change of the log."`
}

type ledgerLogKey struct {
	ID          string        `json:"id" doc:"Id of the key." example:"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Algorithm   string        `json:"algorithm" enum:"ED25519" doc:"Signature algorithm."`
	PublicKey   base64Bytes   `json:"publicKey" doc:"Public key of 32 bytes, in base64." example:"0iTMTuSm5y0wCe0G9593sfT4NLuxjNpcBOhIVcADBTM="`
	VerifierKey string        `json:"verifierKey" doc:"Public key in the format of signed note verifiers and of causeway ledger verify --key: name, hash and key." example:"causeway.ledger/0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b+1f2e3d4c+AdIkzE7kpuctMAntBvefd7H0+DS7sYzaXATiSFXAAwUz"`
	ValidFrom   httpapi.Time  `json:"validFrom" doc:"Time the key became valid."`
	ValidUntil  *httpapi.Time `json:"validUntil,omitempty" doc:"Time the key was replaced. Omitted for the current key. Its checkpoints stay valid."`
}

type ledgerLogKeyListResponse struct {
	Data []ledgerLogKey `json:"data" doc:"Keys, newest first."`
}

type inclusionProofBody struct {
	PostingID  httpapi.ID[ident.Posting] `json:"postingId" doc:"Id of the posting."`
	Number     int64                     `json:"number" doc:"Number of the posting, from 1." example:"7"`
	LeafIndex  int64                     `json:"leafIndex" doc:"Index of the leaf in the tree: the number minus one." example:"6"`
	Leaf       base64Bytes               `json:"leaf" doc:"Leaf in base64: the canonical encoding of the posting." example:"Y2F1c2V3YXkgbGVhZiAxCg=="`
	LeafHash   base64Bytes               `json:"leafHash" doc:"Leaf hash in base64: SHA-256 of a zero byte and the leaf." example:"QqqLpIyGeL38qDFjP25MPcmumOEuYqOhg1qhMQ4GOv0="`
	Hashes     []base64Bytes             `json:"hashes" doc:"RFC 6962 inclusion proof: sibling hashes from leaf to root, in base64."`
	Checkpoint checkpointBody            `json:"checkpoint" doc:"Checkpoint that the proof leads to."`
}

type consistencyProofBody struct {
	From   checkpointBody `json:"from" doc:"Earlier checkpoint."`
	To     checkpointBody `json:"to" doc:"Later checkpoint."`
	Hashes []base64Bytes  `json:"hashes" doc:"RFC 6962 consistency proof between the checkpoints, in base64."`
}

// base64Bytes is binary data in base64.
type base64Bytes string

func encodeBase64(b []byte) base64Bytes { return base64Bytes(base64.StdEncoding.EncodeToString(b)) }

func encodeBase64All(hashes []merkle.Hash) []base64Bytes {
	texts := make([]base64Bytes, len(hashes))
	for i, h := range hashes {
		texts[i] = encodeBase64(h[:])
	}
	return texts
}

func renderCheckpoint(c ports.SignedCheckpoint) checkpointBody {
	return checkpointBody{Size: c.Size, RootHash: encodeBase64(c.Root[:]), SealedAt: httpapi.NewTime(c.Sealed), Note: c.Note}
}

// platformScoped is a value with the platform that it belongs to.
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

	type statusResult struct {
		keys     platformScoped[[]ports.CheckpointKey]
		evidence ports.EvidenceStatus
		ports.LogStatus
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerLog", Path: "/ledger/log", Tag: tagLog, Summary: "Get the status of the ledger log", Permission: platform.View,
		Description: "Every posting of the platform is a leaf of its log, in the order of posting numbers. A signed checkpoint covers new " +
			"postings about every minute. " +
			"With a checkpoint you can prove later that no posting it covers was changed, reordered, added or removed. " +
			"What is recorded beside the postings, such as closings, authorisations, receipts and the customers of payments, is covered in the " +
			"same way by the log of evidence.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (statusResult, error) {
		status, err := log.Status(ctx, call.Principal.Platform)
		if err != nil {
			return statusResult{}, err
		}
		evidence, err := log.EvidenceStatus(ctx, call.Principal.Platform)
		if err != nil {
			return statusResult{}, err
		}
		public, err := keys(ctx, call)
		return statusResult{public, evidence, status}, err
	}, func(s statusResult) ledgerLogBody {
		body := ledgerLogBody{Origin: ledger.LogOrigin(s.keys.platform), Postings: s.Postings, Sealed: s.Checkpoint.Size,
			Published: s.PublishedSize, Keys: renderLedgerLogKeys(s.keys).Data}
		if s.Checkpoint.Size > 0 {
			checkpoint := renderCheckpoint(s.Checkpoint)
			body.Checkpoint = &checkpoint
		}
		body.Evidence = evidenceLogBody{Origin: ledger.EvidenceLog.Origin(s.keys.platform), Published: s.evidence.PublishedSize}
		if c := s.evidence.Checkpoint; c.Size > 0 {
			body.Evidence.Checkpoint = &evidenceCheckpoint{Size: c.Size, RootHash: encodeBase64(c.Root[:]), SealedAt: httpapi.NewTime(c.Sealed),
				Note: c.Note}
		}
		return body
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerCheckpoint", Path: "/ledger/log/checkpoint", Tag: tagLog, Summary: "Get the latest signed checkpoint",
		Permission:  platform.View,
		Description: "Returns the signed note as plain text, for tools that read C2SP checkpoints.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (string, error) {
		status, err := log.Status(ctx, call.Principal.Platform)
		if err == nil && status.Checkpoint.Size == 0 {
			err = fault.New(fault.NotFound, "There is no checkpoint yet. Try again a minute after the first posting.")
		}
		return status.Checkpoint.Note, err
	}, func(note string) httpapi.Text { return httpapi.Text(note) })

	type listCheckpointsParams struct{ httpapi.Paging }
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerCheckpoints", Path: "/ledger/log/checkpoints", Tag: tagLog, Summary: "List ledger log checkpoints",
		Permission:  platform.View,
		Description: "Returns all signed checkpoints, newest first. Each covers all postings of the previous one.",
	}, func(ctx context.Context, call httpapi.Call, in *listCheckpointsParams) (ports.CheckpointPage, error) {
		before, err := parseNumberCursor(checkpointCursor, in.Cursor)
		if err != nil {
			return ports.CheckpointPage{}, err
		}
		return log.Checkpoints(ctx, call.Principal.Platform, ports.CheckpointFilter{Before: before, Limit: in.Limit})
	}, func(p ports.CheckpointPage) httpapi.Page[checkpointBody] {
		return renderUncountedPage(p.Checkpoints, p.More, renderCheckpoint,
			func(c ports.SignedCheckpoint) httpapi.Cursor { return numberCursor(checkpointCursor, c.Size) })
	})

	type inclusionProofParams struct {
		PostingID httpapi.ID[ident.Posting] `query:"postingId" required:"true" doc:"Id of the posting."`
		Size      int64                     `query:"size" minimum:"1" doc:"Size of the checkpoint. Defaults to the latest."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "proveLedgerPosting", Path: "/ledger/log/proof", Tag: tagLog, Summary: "Get an inclusion proof of a posting",
		Permission: platform.View,
		Description: "Returns the leaf of a posting and its RFC 6962 inclusion proof for a checkpoint. Returns 409 until a checkpoint covers " +
			"the posting.",
		Errors: []fault.Code{fault.NotFound, fault.Conflict, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *inclusionProofParams) (audit.InclusionProof, error) {
		return log.InclusionProof(ctx, call.Principal.Platform, in.PostingID.Value.UUID(), in.Size)
	}, func(i audit.InclusionProof) inclusionProofBody {
		return inclusionProofBody{PostingID: postingID(i.Leaf.ID), Number: i.Leaf.Seq, LeafIndex: i.Leaf.Seq - 1,
			Leaf:     encodeBase64(i.Leaf.Encode(nil)),
			LeafHash: encodeBase64(i.LeafHash[:]), Hashes: encodeBase64All(i.Path), Checkpoint: renderCheckpoint(i.Checkpoint)}
	})

	type consistencyProofParams struct {
		From int64 `query:"from" required:"true" minimum:"1" doc:"Size of the earlier checkpoint, for example one that you stored."`
		To   int64 `query:"to" minimum:"1" doc:"Size of the later checkpoint. Defaults to the latest."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "proveLedgerConsistency", Path: "/ledger/log/consistency", Tag: tagLog, Summary: "Get a consistency proof of the log",
		Permission: platform.View,
		Description: "Returns an RFC 6962 proof that a later checkpoint contains all postings of an earlier one, unchanged and in the " +
			"same order.",
	}, func(ctx context.Context, call httpapi.Call, in *consistencyProofParams) (audit.ConsistencyProof, error) {
		return log.ConsistencyProof(ctx, call.Principal.Platform, in.From, in.To)
	}, func(c audit.ConsistencyProof) consistencyProofBody {
		return consistencyProofBody{From: renderCheckpoint(c.From), To: renderCheckpoint(c.To), Hashes: encodeBase64All(c.Path)}
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerLogKeys", Path: "/ledger/log/keys", Tag: tagLog, Summary: "List ledger log keys", Permission: platform.View,
		Description: "Returns the current and earlier public keys that sign checkpoints. Store them once over a trusted connection; a " +
			"checkpoint signed with any other key is not from this log.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (platformScoped[[]ports.CheckpointKey], error) {
		return keys(ctx, call)
	}, renderLedgerLogKeys)
}
