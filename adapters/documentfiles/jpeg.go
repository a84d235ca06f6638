package documentfiles

import (
	"bytes"
	"encoding/binary"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	markerSOF0  = 0xc0 // baseline
	markerSOF1  = 0xc1 // extended sequential
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerJPG   = 0xc8
	markerDAC   = 0xcc
	markerSOF15 = 0xcf
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP14 = 0xee
	markerAPP15 = 0xef
	markerCOM   = 0xfe
)

// maxScans is more than any encoder makes. A file of many scans costs its viewer much time.
const maxScans = 200

// checkJPEG returns the parts of the first image of a file that are needed to show it.
func checkJPEG(s *source) ([]part, error) {
	c := newCursor(s)
	if err := c.skip(2); err != nil {
		return nil, err
	}
	j := &jpegFile{cursor: c, parts: []part{{from: 0, to: 2}}}
	for {
		marker, err := j.marker()
		if err != nil {
			return nil, err
		}
		if marker == markerEOI {
			if j.scans == 0 {
				return nil, errDamaged
			}
			return append(j.parts, part{literal: []byte{0xff, markerEOI}}), nil
		}
		if err := j.segment(marker); err != nil {
			return nil, err
		}
		if len(j.parts) > maxParts {
			return nil, errDamaged
		}
	}
}

type jpegFile struct {
	*cursor
	parts    []part
	frame    bool // the frame header was read
	scans    int
	oriented bool
}

// marker reads the next marker.
func (j *jpegFile) marker() (byte, error) {
	b, err := j.next(1)
	if err != nil || b[0] != 0xff {
		return 0, errDamaged
	}
	for {
		if b, err = j.next(1); err != nil {
			return 0, err
		}
		if b[0] != 0xff { // any number of fill bytes
			return b[0], nil
		}
	}
}

// segment reads the segment of a marker, and keeps it if it is needed.
func (j *jpegFile) segment(marker byte) error {
	from := j.at - 2
	header, err := j.next(2)
	if err != nil {
		return err
	}
	length := int(binary.BigEndian.Uint16(header)) - 2
	if length < 0 {
		return errDamaged
	}
	start, err := j.Peek(min(length, 4096))
	if err != nil {
		return errDamaged
	}
	switch {
	case marker == markerSOF0 || marker == markerSOF1 || marker == markerSOF2:
		err = j.frameHeader(start)
	case marker == markerDHT || marker == markerDQT || marker == markerDRI:
	case marker == markerSOS:
		if j.scans++; !j.frame || j.scans > maxScans {
			return errDamaged
		}
	case marker >= markerAPP0 && marker <= markerAPP15, marker == markerCOM:
		j.parts = append(j.parts, j.application(marker, start)...)
		return j.skip(length)
	case marker > markerSOF2 && marker <= markerSOF15 && marker != markerJPG && marker != markerDAC:
		return refuse("must be a usual JPEG file, baseline or progressive: open it on a computer or phone and save it again")
	default:
		return errDamaged
	}
	if err != nil {
		return err
	}
	if err := j.skip(length); err != nil {
		return err
	}
	if marker == markerSOS {
		if err := j.scan(); err != nil {
			return err
		}
	}
	// A fill byte before the marker is not kept.
	j.parts = keep(j.parts, from, j.at)
	return nil
}

// frameHeader checks the header of the image.
func (j *jpegFile) frameHeader(b []byte) error {
	if j.frame || len(b) < 6 {
		return errDamaged
	}
	j.frame = true
	if components := int(b[5]); b[0] != 8 || components != 1 && components != 3 && components != 4 || len(b) != 6+3*components {
		return errDamaged
	}
	return checkDimensions(int64(binary.BigEndian.Uint16(b[3:])), int64(binary.BigEndian.Uint16(b[1:])))
}

// application returns what is kept of a segment for applications or a comment: the resolution, the
// orientation, and the color transform of Adobe, without anything else.
func (j *jpegFile) application(marker byte, b []byte) []part {
	switch {
	case marker == markerAPP0 && bytes.HasPrefix(b, []byte("JFIF\x00")) && len(b) >= 14 && len(j.parts) == 1:
		jfif := append([]byte{0xff, markerAPP0, 0, 16}, b[:12]...)
		return []part{{literal: append(jfif, 0, 0)}} // no thumbnail
	case marker == markerAPP14 && bytes.HasPrefix(b, []byte("Adobe")) && len(b) == 12:
		return []part{{literal: append([]byte{0xff, markerAPP14, 0, 14}, b...)}}
	case marker == markerAPP1 && bytes.HasPrefix(b, []byte("Exif\x00\x00")) && !j.oriented:
		if o := orientation(b[6:]); o > 1 {
			j.oriented = true
			exif := append([]byte("Exif\x00\x00"), orientationTIFF(o)...)
			segment := binary.BigEndian.AppendUint16([]byte{0xff, markerAPP1}, uint16(len(exif)+2))
			return []part{{literal: append(segment, exif...)}}
		}
	}
	return nil
}

// scan passes the coded data of a scan, which ends before the next marker that is no restart.
func (j *jpegFile) scan() error {
	for {
		b, err := j.Peek(1)
		if err != nil {
			return errDamaged
		}
		if b[0] != 0xff {
			buffered, _ := j.Peek(j.Buffered())
			n := bytes.IndexByte(buffered, 0xff)
			if n < 0 {
				n = len(buffered)
			}
			if err := j.skip(n); err != nil {
				return err
			}
			continue
		}
		two, err := j.Peek(2)
		switch {
		case err != nil:
			return errDamaged
		case two[1] == 0xff: // a fill byte
			err = j.skip(1)
		case two[1] == 0 || two[1] >= markerRST0 && two[1] <= markerRST7:
			err = j.skip(2)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}
