package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/ledger"
)

// exampleFact returns the fact of the documentation.
func exampleFact() ledger.Fact {
	return ledger.NewFact(platform, ledger.FactAuthorisation, "01900000-0000-7000-8000-000000000103", []ledger.Field{
		{Name: "posting_id", Value: "01900000-0000-7000-8000-000000000103"}, {Name: "note", Value: "Rechnung № 7"}, {Name: "actor", Value: ""}})
}

func TestEvidenceLeaf_Encode(t *testing.T) {
	t.Parallel()
	// The encodings of a fact and of a leaf never change: a verifier written from the documentation computes these
	// bytes and these hashes.
	fact := exampleFact()
	if got := hex.EncodeToString(fact.Hash[:]); got != "4340894af2f8ecc99e6221374dd9bfad2948cd094155d6a72aeceac4a2302c10" {
		t.Errorf("the hash of the fact is %s", got)
	}
	if got := hex.EncodeToString(fact.Hints); got != "0c3d4f281c27f7de" { // of the names and values, by name
		t.Errorf("the hints of the fact are %s", got)
	}
	leaf := ledger.EvidenceLeaf{Platform: platform, Seq: 7, Sealed: noon, Facts: []ledger.Fact{fact}}
	want := "6361757365776179206c65616620320a" + // causeway leaf 2
		"01900000000070008000000000000001" + "0000000000000007" + "000660b3fbca1000" + // platform, number, sealed
		"00000001" + // number of facts
		"0000000d" + hex.EncodeToString([]byte("authorisation")) +
		"00000024" + hex.EncodeToString([]byte("01900000-0000-7000-8000-000000000103")) + hex.EncodeToString(fact.Hash[:])

	encoded := leaf.Encode(nil)

	if got := hex.EncodeToString(encoded); got != want {
		t.Errorf("encoded as\n%s\nwant\n%s", got, want)
	}
	hash := sha256.Sum256(append([]byte{0}, encoded...))
	if got := hex.EncodeToString(hash[:]); got != "a351f6dc4529808f9df77eb7a5d0953e653acdb42b6e15f42c6707e9ed67d635" {
		t.Errorf("its leaf hash is %s", got)
	}
	for name, change := range map[string]func(*ledger.EvidenceLeaf){
		"number":  func(l *ledger.EvidenceLeaf) { l.Seq++ },
		"time":    func(l *ledger.EvidenceLeaf) { l.Sealed = l.Sealed.Add(time.Microsecond) },
		"kind":    func(l *ledger.EvidenceLeaf) { l.Facts[0].Kind = ledger.FactReceipt },
		"subject": func(l *ledger.EvidenceLeaf) { l.Facts[0].Subject = "other" },
		"hash":    func(l *ledger.EvidenceLeaf) { l.Facts[0].Hash[0]++ },
		"a fact":  func(l *ledger.EvidenceLeaf) { l.Facts = append(l.Facts, l.Facts[0]) },
	} {
		changed := leaf
		changed.Facts = slices.Clone(leaf.Facts)
		change(&changed)
		if string(changed.Encode(nil)) == string(encoded) {
			t.Errorf("a change of %s gives the same bytes", name)
		}
	}
}

func TestNewFact_EmptyFieldsAndOrderDoNotCount(t *testing.T) {
	t.Parallel()
	// A fact has the same hash in whatever order its fields are read, and with further fields that are empty; any other
	// value, name, subject, kind or platform gives another one, and the differences name it.
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_.]{1,12}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		fields := make([]ledger.Field, len(names))
		for i, name := range names {
			fields[i] = ledger.Field{Name: name, Value: rapid.String().Draw(t, "value")}
		}
		fact := ledger.NewFact(platform, ledger.FactReceipt, "1", fields)

		shuffled := append(rapid.Permutation(fields).Draw(t, "order"), ledger.Field{Name: "added_later"})
		if again := ledger.NewFact(platform, ledger.FactReceipt, "1", shuffled); again.Hash != fact.Hash {
			t.Fatalf("the order or an empty field counts")
		}

		changed := slices.Clone(fields)
		changed[0].Value += "x"
		other := ledger.NewFact(platform, ledger.FactReceipt, "1", changed)
		if other.Hash == fact.Hash {
			t.Fatalf("%q and %q have one hash", fields, changed)
		}
		// Two values, and two names, have the same hint once in 65,536 times.
		if named := fact.Differences(other, names); len(named) > 0 && !slices.Contains(named, names[0]) {
			t.Fatalf("the differences are %q, want %q", named, names[0])
		}
		for _, o := range []ledger.Fact{
			ledger.NewFact(platform, ledger.FactClosing, "1", fields), ledger.NewFact(platform, ledger.FactReceipt, "2", fields),
			ledger.NewFact(must(parsePlatform(2)), ledger.FactReceipt, "1", fields),
		} {
			if o.Hash == fact.Hash {
				t.Fatal("a fact of another kind, subject or platform has the same hash")
			}
		}
	})
}
