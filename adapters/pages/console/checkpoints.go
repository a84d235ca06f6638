package console

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

func (c *Console) checkpointRoutes() []platformRoute {
	return []platformRoute{
		{http.MethodGet, "/checkpoints", person.View, c.showCheckpoints},
		{http.MethodGet, "/checkpoints/{size}", person.View, c.showCheckpoint},
		{http.MethodGet, "/checkpoints/{size}/file.txt", person.View, c.downloadCheckpoint},
	}
}

func checkpointLink(base string, size int64) string {
	return base + "/checkpoints/" + strconv.FormatInt(size, 10)
}

func (c *Console) showCheckpoints(r *request) error {
	before, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64) // another text is the first page
	found, err := c.LedgerLog.Checkpoints(r.Context(), r.platform.ID, ports.CheckpointFilter{Before: max(before, 0), Limit: pageSize})
	if err != nil {
		return err
	}
	status, keys, err := c.logState(r)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Checkpoints", "checkpoints"), Intro: "The signed states of the log of postings, which has each posting once, " +
		"in its order. Who keeps one can prove later that nothing before it was changed, added or removed."}
	v.Facts = add(nil, "Postings", strconv.FormatInt(status.Postings, 10))
	v.Facts = add(v.Facts, "Not in a checkpoint yet", strconv.FormatInt(status.Postings-status.Checkpoint.Size, 10))
	rows := table{Label: "Checkpoints", Columns: columns(">Postings", ">New", "Signed at", "Key", "Root", "Published", "Where"),
		Empty: "There is no checkpoint yet. One is signed within a minute or so after a posting."}
	for _, p := range found.Checkpoints {
		size := amountCell(strconv.FormatInt(p.Size, 10))
		size.Link = checkpointLink(v.Base, p.Size)
		rows.Rows = append(rows.Rows, []cell{size, amountCell(strconv.FormatInt(p.Size-p.PreviousSize, 10)), timed(p.Sealed),
			plain(signerOf(p, keys)), {Class: "id", Text: base64.StdEncoding.EncodeToString(p.Root[:])[:10] + "…"},
			publishedCell(p, status), plain(p.Published.Place)})
	}
	v.Sections = []section{{Table: &rows}, {Heading: "Keys", Text: "Obtain the one in use in a way that you trust, and keep it.",
		Table: keysTable(r.platform.ID, keys)}}
	v.Older = older(r, found.More, found.Checkpoints, func(p ports.SignedCheckpoint) string { return strconv.FormatInt(p.Size, 10) })
	return c.show(r, v)
}

// logState returns how far the log is, and all its keys.
func (c *Console) logState(r *request) (ports.LogStatus, []ports.CheckpointKey, error) {
	status, err := c.LedgerLog.Status(r.Context(), r.platform.ID)
	if err != nil {
		return status, nil, err
	}
	keys, err := c.LedgerLog.Keys(r.Context())
	return status, keys, err
}

// signerOf names the key that signed a checkpoint by the hash that signed notes have.
func signerOf(p ports.SignedCheckpoint, keys []ports.CheckpointKey) string {
	key, ok := audit.SignedBy(p, keys)
	if !ok {
		return "none of the keys"
	}
	return keyHash(p.Platform, key)
}

func keyHash(p ident.Platform, key ports.CheckpointKey) string {
	_, hash, _ := strings.Cut(audit.VerifierKey(p, key), "+")
	hash, _, _ = strings.Cut(hash, "+")
	return hash
}

// publishedCell says when a checkpoint was published. Of those of earlier versions only whether is known.
func publishedCell(p ports.SignedCheckpoint, status ports.LogStatus) cell {
	switch {
	case !p.Published.At.IsZero():
		return timed(p.Published.At)
	case p.Size <= status.PublishedSize:
		return plain("yes")
	}
	return plain("not yet")
}

func keysTable(p ident.Platform, keys []ports.CheckpointKey) *table {
	t := &table{Label: "Keys", Columns: columns("Key", "From", "Until", "Verifier key"), Empty: "There is no key yet."}
	for _, key := range keys {
		until := plain("in use")
		if !key.ValidUntil.IsZero() {
			until = timed(key.ValidUntil)
		}
		t.Rows = append(t.Rows, []cell{plain(keyHash(p, key)), timed(key.ValidFrom), until,
			{Class: "id", Text: audit.VerifierKey(p, key)}})
	}
	return t
}

// checkpointPage shows a checkpoint, and the proof that its log continues that of the one before.
type checkpointPage struct {
	page
	Facts []fact
	ports.SignedCheckpoint
	// Before is nil of the first checkpoint.
	Before *audit.ConsistencyProof
	// Keys are those that signed both, as verifier keys.
	Keys string
	// HasArchived: Postings are only those that are not in an archived month.
	HasArchived bool
	Postings    *table
}

// PathTexts returns the hashes of the proof in base64.
func (p checkpointPage) PathTexts() []string { return hashTexts(p.Before.Path) }

func (c *Console) checkpointIn(r *request) (ports.SignedCheckpoint, error) {
	size, err := strconv.ParseInt(r.PathValue("size"), 10, 64)
	if err != nil {
		return ports.SignedCheckpoint{}, errNotFound
	}
	return c.LedgerLog.Checkpoint(r.Context(), r.platform.ID, size)
}

func (c *Console) showCheckpoint(r *request) error {
	found, err := c.checkpointIn(r)
	if err != nil {
		return err
	}
	status, keys, err := c.logState(r)
	if err != nil {
		return err
	}
	data := checkpointPage{page: c.page(r, "Checkpoint of "+strconv.FormatInt(found.Size, 10)+" postings", "checkpoints"),
		SignedCheckpoint: found}
	signers := []ports.SignedCheckpoint{found}
	if found.PreviousSize > 0 {
		// The proof is computed from the stored tree, which is checked against its own root.
		proof, err := c.LedgerLog.ConsistencyProof(r.Context(), r.platform.ID, found.PreviousSize, found.Size)
		if err != nil {
			return err
		}
		data.Before, signers = &proof, append(signers, proof.From)
	}
	data.Keys = verifierKeys(keys, signers)
	data.Facts = checkpointFacts(found, status, keys, data.Base)
	if data.Postings, data.HasArchived, err = c.postingsOf(r, found, data.Base); err != nil {
		return err
	}
	c.site.AllowScript(r.w.Header())
	return c.render(r, http.StatusOK, "checkpoint.html", data)
}

// verifierKeys returns the keys that signed checkpoints, each once.
func verifierKeys(keys []ports.CheckpointKey, signed []ports.SignedCheckpoint) string {
	var texts []string
	for _, p := range signed {
		if key, ok := audit.SignedBy(p, keys); ok {
			if text := audit.VerifierKey(p.Platform, key); len(texts) == 0 || texts[0] != text {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, " ")
}

func checkpointFacts(p ports.SignedCheckpoint, status ports.LogStatus, keys []ports.CheckpointKey, base string) []fact {
	facts := add(nil, "Postings", strconv.FormatInt(p.Size, 10))
	if p.PreviousSize > 0 {
		facts = add(facts, "Checkpoint before", strconv.FormatInt(p.PreviousSize, 10)+" postings", checkpointLink(base, p.PreviousSize))
	}
	facts = add(facts, "Signed", moment(p.Sealed))
	facts = add(facts, "Key", signerOf(p, keys))
	facts = add(facts, "Root", base64.StdEncoding.EncodeToString(p.Root[:]))
	published := publishedCell(p, status)
	if published.Text == "" {
		published.Text = moment(published.At)
	}
	facts = add(facts, "Published", published.Text)
	return add(facts, "Where", p.Published.Place)
}

// postingsOf lists the first postings that a checkpoint has and the one before has not; if those are archived, the last that are not.
func (c *Console) postingsOf(r *request, p ports.SignedCheckpoint, base string) (t *table, archived bool, err error) {
	filter := ports.PostingFilter{Platform: r.platform.ID, After: p.PreviousSize, Ascending: true,
		Limit: int(min(p.Size-p.PreviousSize, pageSize))}
	found, err := c.Accounting.Postings(r.Context(), filter)
	if archived = fault.Is(err, fault.MonthArchived); archived {
		filter.After, filter.Ascending = p.Size+1, false
		found, err = c.Accounting.Postings(r.Context(), filter)
		slices.Reverse(found.Postings)
	}
	if err != nil && !fault.Is(err, fault.MonthArchived) {
		return nil, archived, err
	}
	t = &table{Label: "Postings", Columns: columns(">Number", "Posting", "Recorded", "Effective", "Payment"),
		Empty: "None is in the ledger now."}
	for _, posting := range found.Postings {
		payment := plain("")
		if !posting.Transaction.IsZero() {
			payment = shortID(posting.Transaction.String(), base+"/payments/"+pathOfID(posting.Transaction))
		}
		t.Rows = append(t.Rows, []cell{amountCell(strconv.FormatInt(posting.Seq, 10)), linked(lower(posting.Kind),
			base+"/postings/"+posting.ID.String()+"?checkpoint="+strconv.FormatInt(p.Size, 10)), timed(posting.Recorded),
			timed(posting.Effective), payment})
	}
	return t, archived, nil
}

func (c *Console) downloadCheckpoint(r *request) error {
	found, err := c.checkpointIn(r)
	if err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	r.w.Header().Set("Content-Disposition", `attachment; filename="checkpoint-`+strconv.FormatInt(found.Size, 10)+`.txt"`)
	_, _ = r.w.Write([]byte(found.Note + "\n")) // as it is published; the reader may have left
	return nil
}
