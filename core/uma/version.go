package uma

import (
	"slices"
	"strconv"
	"strings"
)

// Version is the version that is spoken.
const Version = "1.0"

// MajorVersions are the major versions that are spoken.
func MajorVersions() []int { return []int{1} }

// SupportsVersion reports whether a version, such as "1.3", has a major version that is spoken. The answer is in the lower of
// the two minor versions, which is Version.
func SupportsVersion(version string) bool {
	major, minor, ok := strings.Cut(version, ".")
	if !ok {
		return false
	}
	number, err := parseVersionPart(major)
	if err != nil || !slices.Contains(MajorVersions(), number) {
		return false
	}
	_, err = parseVersionPart(minor)
	return err == nil
}

func parseVersionPart(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err
}

// SharesVersion reports whether one of the major versions of another provider is spoken.
func SharesVersion(theirs []int) bool {
	return slices.ContainsFunc(theirs, func(major int) bool { return slices.Contains(MajorVersions(), major) })
}
