package merkle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"causeway/app/audit/merkle"
	"causeway/ports"
)

// referenceRoot implements the definition of RFC 6962, section 2.1.
func referenceRoot(leaves []merkle.Hash) merkle.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := referenceRoot(leaves[:k]), referenceRoot(leaves[k:])
	return sha256.Sum256(bytes.Join([][]byte{{1}, left[:], right[:]}, nil))
}

func testLeafHash(n int) merkle.Hash {
	return tlog.RecordHash(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// tileStore stores tiles in memory.
type tileStore map[ports.TileIndex][]byte

func (s tileStore) put(tiles []ports.LogTile) error {
	for _, t := range tiles {
		place := t.TileIndex
		if _, twice := s[place]; twice || len(t.Hashes) != merkle.TileWidth*merkle.HashSize {
			return fmt.Errorf("tile %v comes twice or is not full", place)
		}
		s[place] = t.Hashes
	}
	return nil
}

func (s tileStore) fetch(places []ports.TileIndex) ([][]byte, error) {
	var data [][]byte
	for _, p := range places {
		if s[p] == nil {
			return nil, fmt.Errorf("no tile %v", p)
		}
		data = append(data, s[p])
	}
	return data, nil
}

func TestTree_MatchesRFC6962(t *testing.T) {
	t.Parallel()
	// A tree that is flushed and resumed at any sizes has the root hash of RFC 6962, and every proof
	// from the stored tiles verifies.
	rapid.Check(t, func(t *rapid.T) {
		var leaves []merkle.Hash
		tree, tiles, edge := merkle.NewTree(), tileStore{}, []byte(nil)
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 700), 1, 6).Draw(t, "batches") {
			for range n {
				leaves = append(leaves, testLeafHash(len(leaves)))
				if err := tree.Add(leaves[len(leaves)-1]); err != nil {
					t.Fatal(err)
				}
			}
			full, newEdge, err := tree.Flush()
			if err != nil {
				t.Fatal(err)
			}
			if err := tiles.put(full); err != nil {
				t.Fatal(err)
			}
			edge = newEdge
			if tree, err = merkle.ResumeTree(int64(len(leaves)), edge); err != nil {
				t.Fatal(err)
			}
		}
		root, err := tree.Root()
		if err != nil || root != referenceRoot(leaves) {
			t.Fatalf("root of %d leaves: %v, %v", len(leaves), root, err)
		}
		if len(leaves) == 0 {
			return
		}
		stored := merkle.StoredTree{Size: int64(len(leaves)), Root: root, Edge: edge, Fetch: tiles.fetch}

		size := rapid.Int64Range(1, stored.Size).Draw(t, "size")
		index := rapid.Int64Range(0, size-1).Draw(t, "index")
		path, leaf, err := stored.InclusionProof(index, size)
		if err != nil || leaf != leaves[index] {
			t.Fatalf("prove leaf %d of %d: %v", index, size, err)
		}
		if err := tlog.CheckRecord(path, size, referenceRoot(leaves[:size]), index, leaves[index]); err != nil {
			t.Fatal(err)
		}
		from := rapid.Int64Range(1, size).Draw(t, "from")
		grown, err := stored.ConsistencyProof(from, size)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckTree(grown, size, referenceRoot(leaves[:size]), from, referenceRoot(leaves[:from])); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStoredTree_RefusesCorruptedStorage(t *testing.T) {
	t.Parallel()
	// With a changed tile, edge or root hash, or outside of the tree, there is no proof.
	tree, tiles := merkle.NewTree(), tileStore{}
	for n := range 1000 {
		if err := tree.Add(testLeafHash(n)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := tree.Root()
	if err != nil {
		t.Fatal(err)
	}
	full, edge, err := tree.Flush()
	if err != nil {
		t.Fatal(err)
	}
	if err := tiles.put(full); err != nil {
		t.Fatal(err)
	}
	valid := merkle.StoredTree{Size: 1000, Root: root, Edge: edge, Fetch: tiles.fetch}
	if _, _, err := valid.InclusionProof(7, 1000); err != nil {
		t.Fatal(err)
	}

	forged := tileStore{}
	for place, data := range tiles {
		forged[place] = bytes.Clone(data)
	}
	forged[ports.TileIndex{}][7*merkle.HashSize]++
	changed := bytes.Clone(edge)
	changed[0]++
	for name, c := range map[string]struct {
		stored      merkle.StoredTree
		index, size int64
	}{
		"a tile":         {merkle.StoredTree{Size: 1000, Root: root, Edge: edge, Fetch: forged.fetch}, 7, 1000},
		"an edge":        {merkle.StoredTree{Size: 1000, Root: root, Edge: changed, Fetch: tiles.fetch}, 7, 1000},
		"a short edge":   {merkle.StoredTree{Size: 1000, Root: root, Edge: edge[1:], Fetch: tiles.fetch}, 7, 1000},
		"a long edge":    {merkle.StoredTree{Size: 1000, Root: root, Edge: append(bytes.Clone(edge), 0), Fetch: tiles.fetch}, 7, 1000},
		"a root":         {merkle.StoredTree{Size: 1000, Root: testLeafHash(1), Edge: edge, Fetch: tiles.fetch}, 7, 1000},
		"an index":       {valid, 900, 900},
		"a size":         {valid, 7, 1001},
		"a lost tile":    {merkle.StoredTree{Size: 1000, Root: root, Edge: edge, Fetch: tileStore{}.fetch}, 7, 1000},
		"a size below 0": {merkle.StoredTree{Size: -1, Fetch: tiles.fetch}, 0, 1},
	} {
		if _, _, err := c.stored.InclusionProof(c.index, c.size); err == nil {
			t.Errorf("%s that is wrong: a proof is given", name)
		}
		if _, err := c.stored.ConsistencyProof(c.index+1, c.size); err == nil && name != "an index" {
			t.Errorf("%s that is wrong: a proof of consistency is given", name)
		}
	}
}
