// Sources on tiny files written here: contents, order, and every refusal of hostile or misplaced files.
#include <unistd.h>

#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

std::vector<uint8_t> cifar_record(int labels, int first_label, int seed) {
  std::vector<uint8_t> r;
  for (int k = 0; k < labels; ++k) r.push_back(static_cast<uint8_t>(first_label + k));
  for (int i = 0; i < 3072; ++i) r.push_back(static_cast<uint8_t>((i * 7 + seed) % 251));
  return r;
}
std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<uint8_t> big(uint32_t v) {
  return {static_cast<uint8_t>(v >> 24), static_cast<uint8_t>(v >> 16), static_cast<uint8_t>(v >> 8), static_cast<uint8_t>(v)};
}
std::vector<uint8_t> idx_images(uint32_t n) {
  auto b = big(2051) + big(n) + big(28) + big(28);
  for (uint32_t i = 0; i < n * 784; ++i) b.push_back(static_cast<uint8_t>(i % 253));
  return b;
}
std::vector<uint8_t> idx_labels(uint32_t n) {
  auto b = big(2049) + big(n);
  for (uint32_t i = 0; i < n; ++i) b.push_back(static_cast<uint8_t>(i % 10));
  return b;
}

template <class E> E open_error(const Dataset::Ptr& d) {
  return caught<E>([&] { d->get_dataset_size(); });
}

TEST(Cifar, TenReadsRowsInFileOrder) {
  TempDir dir;
  write_bytes(dir / "data_batch_1.bin", cifar_record(1, 3, 0) + cifar_record(1, 4, 1));
  write_bytes(dir / "data_batch_2.bin", cifar_record(1, 5, 2));
  write_bytes(dir / "test_batch.bin", cifar_record(1, 6, 3));
  auto make = [&](const char* usage) { return Cifar10Dataset::make({.dataset_dir = dir.str(), .usage = usage, .shuffle = false}); };
  EXPECT_EQ(make("train")->get_dataset_size(), 3);
  EXPECT_EQ(make("test")->get_dataset_size(), 1);
  auto d = make("all")->batch(4);
  EXPECT_EQ(d->get_col_names(), (std::vector<std::string>{"image", "label"}));
  auto it = d->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(it->next(&c));
  EXPECT_EQ(c[0].meta().str(), "u8[4, 32, 32, 3]");
  EXPECT_EQ(c[1].to_vector<int64_t>(), (std::vector<int64_t>{3, 4, 5, 6}));
  // Row 1, pixel (2, 5), channel 1: byte 1024 + 2 * 32 + 5 of its planes.
  EXPECT_EQ(c[0].data<uint8_t>()[((1 * 32 + 2) * 32 + 5) * 3 + 1], ((1024 + 69) * 7 + 1) % 251);
}

TEST(Cifar, HundredHasTwoLabels) {
  TempDir dir;
  write_bytes(dir / "train.bin", cifar_record(2, 18, 0));
  auto it = Cifar100Dataset::make({.dataset_dir = dir.str(), .usage = "train"})->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(it->next(&c));
  EXPECT_EQ(c[1].item(), 18);
  EXPECT_EQ(c[2].item(), 19);
  EXPECT_EQ(c[2].dtype(), DType::kInt32);
}

TEST(Cifar, RefusesDamageAndOtherForms) {
  TempDir dir;
  auto make = [&] { return Cifar10Dataset::make({.dataset_dir = dir.str(), .usage = "train"}); };
  EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataMissing);
  write_bytes(dir / "data_batch_1", {1});
  EXPECT_NE(open_error<DataError>(make()).message().find("pickle"), std::string::npos);
  write_bytes(dir / "cifar-10-binary.tar.gz", {1});
  EXPECT_NE(open_error<DataError>(make()).message().find("packed"), std::string::npos);
  write_bytes(dir / "data_batch_1.bin", {});
  EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataEmpty);
  const auto record = cifar_record(1, 3, 0);
  for (size_t n : {size_t{1}, size_t{100}, record.size() - 1, record.size() + 1}) {
    auto bytes = record + record;
    bytes.resize(n);
    write_bytes(dir / "data_batch_1.bin", bytes);
    const DataError e = open_error<DataError>(make());
    EXPECT_EQ(e.code(), ErrorCode::kDataCorrupt);
    EXPECT_NE(e.message().find("multiple of 3073"), std::string::npos);
  }
  write_bytes(dir / "data_batch_1.bin", record + cifar_record(1, 10, 0));
  const DataError e = open_error<DataError>(make());
  EXPECT_EQ(e.code(), ErrorCode::kLabelRange);
  EXPECT_NE(e.where().find("byte 3073"), std::string::npos) << e.what();
  EXPECT_THROW(Cifar10Dataset::make({.dataset_dir = dir.str(), .usage = "trian"}), ValueError);
}

// Complete files are read even if others are missing, with a warning; a file that is empty or cut between two records is refused.
TEST(Cifar, MissingFilesAreAWarningAndShortOnesAnError) {
  const auto error = [](const TempDir& dir, const char* usage) {
    return open_error<DataError>(Cifar10Dataset::make({.dataset_dir = dir.str(), .usage = usage})).message();
  };
  const auto record = cifar_record(1, 3, 0);
  TempDir gap;
  for (const char* name : {"data_batch_1.bin", "data_batch_3.bin", "test_batch.bin"}) write_bytes(gap / name, record);
  testing::internal::CaptureStderr();
  EXPECT_EQ(Cifar10Dataset::make({.dataset_dir = gap.str(), .usage = "train"})->get_dataset_size(), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("has no data_batch_2.bin; the other files hold 2 training rows"), std::string::npos) << said;
  EXPECT_EQ(Cifar10Dataset::make({.dataset_dir = gap.str(), .usage = "test"})->get_dataset_size(), 1);
  write_bytes(gap / "data_batch_2.bin", {});
  EXPECT_NE(error(gap, "train").find("data_batch_2.bin is empty"), std::string::npos);
  write_bytes(gap / "data_batch_2.bin", record);
  EXPECT_EQ(Cifar10Dataset::make({.dataset_dir = gap.str(), .usage = "train"})->get_dataset_size(), 3);
  write_bytes(gap / "batches.meta.txt", {'\n'});  // the published set has 10,000 records in each of six files
  EXPECT_NE(error(gap, "train").find("1 records, expected 10000"), std::string::npos);
  EXPECT_NE(error(gap, "test").find("1 records, expected 10000"), std::string::npos);
  TempDir one;  // as a tutorial downloads it: one file of the published set
  std::vector<uint8_t> whole;
  for (int i = 0; i < 10'000; ++i) whole.insert(whole.end(), record.begin(), record.end());
  write_bytes(one / "data_batch_1.bin", whole);
  for (const char* usage : {"train", "all"}) EXPECT_EQ(Cifar10Dataset::make({.dataset_dir = one.str(), .usage = usage})->get_dataset_size(), 10'000);
  whole.resize(whole.size() - record.size());
  write_bytes(one / "data_batch_2.bin", whole);
  EXPECT_NE(error(one, "train").find("data_batch_2.bin has 9999 records, expected 10000"), std::string::npos);
  write_bytes(one / "data_batch_2.bin", std::vector<uint8_t>(whole.begin(), whole.end() - 7));
  EXPECT_NE(error(one, "train").find("multiple of 3073"), std::string::npos);
}

TEST(Fingerprint, TellsContentsOrTimesApart) {
  TempDir dir;
  write_bytes(dir / "data_batch_1.bin", cifar_record(1, 3, 0));
  const auto of = [&](bool contents) { return Cifar10Dataset::make({.dataset_dir = dir.str(), .usage = "train"})->batch(1)->fingerprint(contents); };
  const std::string before = of(false);
  EXPECT_EQ(of(false), before);
  write_bytes(dir / "data_batch_1.bin", cifar_record(1, 3, 1));  // another image of the same class
  EXPECT_NE(of(false), before);
  TempDir images;
  const auto folder = [&](bool contents) { return ImageFolderDataset::make({.dataset_dir = images.str()})->fingerprint(contents); };
  write_bytes(images / "a/1.jpg", {1, 2});
  const std::string files = folder(false), bytes = folder(true);
  write_bytes(images / "a/1.jpg", {2, 1});
  std::filesystem::last_write_time(images / "a/1.jpg", std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(folder(false).substr(0, 22), files.substr(0, 22)) << "names and sizes";
  EXPECT_NE(folder(false), files) << "but other modification times";
  EXPECT_NE(folder(true), bytes);
  write_bytes(images / "a/1.jpg", {1, 2});
  EXPECT_EQ(folder(true), bytes) << "whatever the times are";
}

TEST(Mnist, ReadsImagesAndLabels) {
  TempDir dir;
  write_bytes(dir / "train-images-idx3-ubyte", idx_images(3));
  write_bytes(dir / "train-labels-idx1-ubyte", idx_labels(3));
  write_bytes(dir / "t10k-images.idx3-ubyte", idx_images(2));
  write_bytes(dir / "t10k-labels.idx1-ubyte", idx_labels(2));
  EXPECT_EQ(MnistDataset::make({.dataset_dir = dir.str()})->get_dataset_size(), 5);
  auto it = FashionMnistDataset::make({.dataset_dir = dir.str(), .usage = "train", .shuffle = false})->batch(3)->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(it->next(&c));
  EXPECT_EQ(c[0].meta().str(), "u8[3, 28, 28, 1]");
  EXPECT_EQ(c[0].data<uint8_t>()[784 + 10], 794 % 253) << "pixels are unchanged";
  EXPECT_EQ(c[1].to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Mnist, RefusesEveryTruncationAndWrongHeader) {
  TempDir dir;
  auto make = [&] { return MnistDataset::make({.dataset_dir = dir.str(), .usage = "train"}); };
  EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataMissing);
  write_bytes(dir / "train-images-idx3-ubyte.gz", {1});
  EXPECT_NE(open_error<DataError>(make()).message().find("gunzip"), std::string::npos);
  const auto images = idx_images(2), labels = idx_labels(2);
  write_bytes(dir / "train-labels-idx1-ubyte", labels);
  for (size_t n = 0; n < images.size(); n += n < 40 ? 1 : 97) {
    auto cut = images;
    cut.resize(n);
    write_bytes(dir / "train-images-idx3-ubyte", cut);
    EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataCorrupt) << n << " bytes";
  }
  for (size_t byte = 0; byte < 16; ++byte) {
    auto flipped = images;
    flipped[byte] ^= 0x80;
    write_bytes(dir / "train-images-idx3-ubyte", flipped);
    EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataCorrupt) << "byte " << byte;
  }
  write_bytes(dir / "train-images-idx3-ubyte", images);
  for (size_t n = 0; n < labels.size(); ++n) {
    auto cut = labels;
    cut.resize(n);
    write_bytes(dir / "train-labels-idx1-ubyte", cut);
    EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kDataCorrupt) << n << " bytes";
  }
  auto bad = labels;
  bad.back() = 10;
  write_bytes(dir / "train-labels-idx1-ubyte", bad);
  EXPECT_EQ(open_error<DataError>(make()).code(), ErrorCode::kLabelRange);
  write_bytes(dir / "train-labels-idx1-ubyte", idx_labels(3));
  EXPECT_NE(open_error<DataError>(make()).message().find("expected 2 labels"), std::string::npos);
}

TEST(ImageFolder, ClassesFilesAndColumns) {
  TempDir dir;
  const auto jpg = encoded(picture(8, 8, 1));
  for (const char* f : {"b/2.JPG", "b/1.jpeg", "a/x.png", "a/.hidden.jpg", "a/notes.txt", "Z/1.jpg", ".cache/1.jpg"}) write_bytes(dir / f, jpg);
  std::filesystem::create_directories(dir / "empty");
  auto make = [&](ImageFolderDataset::Options o) {
    o.dataset_dir = dir.str();
    o.shuffle = false;
    return ImageFolderDataset::make(o);
  };
  auto d = make({});
  EXPECT_EQ(d->get_class_indexing(), (std::map<std::string, int32_t>{{"Z", 0}, {"a", 1}, {"b", 2}, {"empty", 3}}));
  EXPECT_EQ(d->get_dataset_size(), 4);
  auto labels = d->project({"label"})->batch(4)->create_iterator({.num_epochs = 1});
  EXPECT_EQ(epoch_values(*labels), (std::vector<int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(make({.extensions = {".txt"}})->get_dataset_size(), 1);
  EXPECT_EQ(make({.class_indexing = {{"a", 7}}})->get_dataset_size(), 1);
  EXPECT_EQ(open_error<DataError>(make({.allow_empty_classes = false})).code(), ErrorCode::kDataEmpty);
  const DataError missing = open_error<DataError>(make({.class_indexing = {{"emty", 0}}}));
  EXPECT_NE(missing.fix().find("empty"), std::string::npos) << missing.what();
  auto decoded = make({.decode = true})->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(decoded->next(&c));
  EXPECT_EQ(c[0].meta().str(), "u8[8, 8, 3]");
}

TEST(ImageFolder, ProblemsWithTheFolder) {
  TempDir dir;
  auto make = [](const std::string& path) { return ImageFolderDataset::make({.dataset_dir = path}); };
  EXPECT_EQ(open_error<DataError>(make(dir / "nowhere")).code(), ErrorCode::kDataMissing);
  EXPECT_NE(open_error<DataError>(make(dir.str())).message().find("no class folders"), std::string::npos);
  write_bytes(dir / "1.jpg", {1});
  EXPECT_NE(open_error<DataError>(make(dir.str())).message().find("1 images lie directly"), std::string::npos);
  EXPECT_NE(open_error<IoError>(make(dir / "1.jpg")).fix().find("folder"), std::string::npos);
  write_bytes(dir / "a/readme.md", {1});
  const DataError none = open_error<DataError>(make(dir.str()));
  EXPECT_EQ(none.code(), ErrorCode::kDataEmpty);
  EXPECT_NE(none.message().find("1 x .md"), std::string::npos) << none.what();
  EXPECT_THROW(ImageFolderDataset::make({.dataset_dir = dir.str(), .extensions = {"jpg"}}), ValueError);
}

// Sindri does not decode GIF: such a file is skipped with a warning, and one that is requested explicitly is refused by name.
TEST(ImageFolder, GifIsNoImage) {
  TempDir dir;
  const std::vector<uint8_t> gif = {'G', 'I',  'F', '8', '9', 'a', 1, 0, 1, 0, 0x80, 0, 0, 0,    0, 0, 255, 255,
                                    255, 0x2c, 0,   0,   0,   0,   1, 0, 1, 0, 0,    2, 2, 0x44, 1, 0, 0x3b};
  for (const char* f : {"a/1.gif", "b/1.GIF"}) write_bytes(dir / f, gif);
  const auto make = [&](ImageFolderDataset::Options o) {
    o.dataset_dir = dir.str();
    o.shuffle = false;
    return ImageFolderDataset::make(o);
  };
  const DataError none = open_error<DataError>(make({}));
  EXPECT_EQ(none.code(), ErrorCode::kDataEmpty);
  EXPECT_NE(none.message().find("1 x .gif"), std::string::npos) << none.what();
  EXPECT_EQ(none.fix().find("gif"), std::string::npos) << none.what();
  write_bytes(dir / "b/2.jpg", encoded(picture(8, 8, 1)));
  testing::internal::CaptureStderr();
  EXPECT_EQ(make({})->get_dataset_size(), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("skipped entries: 1 x .GIF, 1 x .gif"), std::string::npos) << said;
  std::vector<Tensor> row;
  const auto it = make({.extensions = {".gif"}, .decode = true})->create_iterator({.num_epochs = 1});
  try {
    it->next(&row);
    ADD_FAILURE() << "a GIF was decoded";
  } catch (const DataError& e) {
    EXPECT_NE(e.message().find("GIF"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("a/1.gif"), std::string::npos) << e.what();
  }
}

// Subsets of ImageNet are folders of links into the whole set.
TEST(ImageFolder, FollowsLinksToImagesAndClassFolders) {
  TempDir dir, outside;
  const auto jpg = encoded(picture(8, 8, 1));
  write_bytes(dir / "a/1.jpg", jpg);
  write_bytes(outside / "elsewhere.jpg", jpg);
  write_bytes(outside / "b/1.jpg", jpg);
  ASSERT_EQ(::symlink("1.jpg", (dir / "a/2.jpg").c_str()), 0);
  ASSERT_EQ(::symlink((outside / "elsewhere.jpg").c_str(), (dir / "a/3.jpg").c_str()), 0);
  ASSERT_EQ(::symlink("nothing.jpg", (dir / "a/4.jpg").c_str()), 0);
  ASSERT_EQ(::symlink((outside / "b").c_str(), (dir / "b").c_str()), 0);
  ASSERT_EQ(::symlink("..", (dir / "a/loop").c_str()), 0);
  ASSERT_EQ(::symlink("5.jpg", (dir / "a/5.jpg").c_str()), 0);
  testing::internal::CaptureStderr();
  const auto d = ImageFolderDataset::make({.dataset_dir = dir.str(), .shuffle = false, .decode = true});
  EXPECT_EQ(d->get_dataset_size(), 4);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("2 broken links are skipped"), std::string::npos) << said;
  EXPECT_EQ(d->get_class_indexing(), (std::map<std::string, int32_t>{{"a", 0}, {"b", 1}}));
  std::vector<int32_t> labels;
  std::vector<Tensor> row;
  const auto it = d->create_iterator({.num_epochs = 1});
  while (it->next(&row)) labels.push_back(row[1].data<int32_t>()[0]);
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 0, 0, 1}));
}

// As in MindSpore: without a list of extensions every file of a class folder is a row.
TEST(ImageFolder, AnyExtension) {
  TempDir dir;
  for (const char* f : {"a/1.jpg", "a/2.gif", "a/hash", "a/notes.txt", "a/.hidden.jpg", "a/sub/3.jpg"}) write_bytes(dir / f, {1});
  EXPECT_EQ(ImageFolderDataset::make({.dataset_dir = dir.str()})->get_dataset_size(), 1);
  EXPECT_EQ(ImageFolderDataset::make({.dataset_dir = dir.str(), .any_extension = true})->get_dataset_size(), 4);
  EXPECT_EQ(ImageFolderDataset::make({.dataset_dir = dir.str(), .extensions = {".gif"}, .any_extension = true})->get_dataset_size(), 1);
}

TEST(ImageFolder, FileThatVanishesIsABadSample) {
  TempDir dir;
  make_image_folder(dir.str(), 1, 6);
  auto d = ImageFolderDataset::make({.dataset_dir = dir.str(), .shuffle = false})
               ->map({vision::Decode(), vision::RandomCrop(8)}, {.input_columns = {"image"}})
               ->batch(3);
  EXPECT_EQ(d->get_dataset_size(), 2);
  std::filesystem::remove(dir / "class_0/004.jpg");
  auto it = d->create_iterator({.num_epochs = 1, .on_corrupt = OnCorrupt::kSkip});
  std::vector<Tensor> c;
  while (it->next(&c)) {}
  ASSERT_EQ(it->stats().bad_samples.size(), 1u);
  EXPECT_EQ(it->stats().bad_samples[0].row_id, 4);
  EXPECT_NE(it->stats().bad_samples[0].reason.find("No such file"), std::string::npos);
}

TEST(FindData, LayoutsOfTheModelScripts) {
  const auto jpg = encoded(picture(8, 8, 1));
  for (const char* name : {"val", "validation_preprocess", "ilsvrc_eval", "test"}) {
    TempDir dir;
    write_bytes(dir / (std::string(name) + "/cat/1.jpg"), jpg);
    write_bytes(dir / "train/cat/1.jpg", jpg);
    const FoundData eval = find_data(dir.str(), "eval");
    EXPECT_EQ(eval.kind, FoundData::Kind::kImageFolder);
    EXPECT_EQ(eval.dir, dir / name);
    EXPECT_EQ(find_data(dir.str(), "train").dir, dir / "train");
    EXPECT_EQ(open_data(eval)->get_dataset_size(), 1);
  }
  TempDir dir;
  write_bytes(dir / "ilsvrc/n01/1.jpg", jpg);
  EXPECT_EQ(find_data(dir.str(), "train").dir, dir / "ilsvrc");
  EXPECT_THROW(find_data(dir.str(), "evl"), ValueError);
  EXPECT_EQ(find_data(dir / "ilsvrc", "train").dir, dir / "ilsvrc") << "the class folders themselves";
}

TEST(FindData, BinariesAndWhatIsMissing) {
  TempDir dir;
  write_bytes(dir / "cifar-10-batches-bin/data_batch_1.bin", cifar_record(1, 0, 0));
  write_bytes(dir / "cifar-10-batches-bin/test_batch.bin", cifar_record(1, 0, 0) + cifar_record(1, 0, 0));
  const FoundData eval = find_data(dir.str(), "eval");
  EXPECT_EQ(eval.kind, FoundData::Kind::kCifar10);
  EXPECT_EQ(open_data(eval)->get_dataset_size(), 2);
  EXPECT_EQ(open_data(find_data(dir / "cifar-10-batches-bin", "train"))->get_dataset_size(), 1);
  TempDir mnist;
  write_bytes(mnist / "train/train-images-idx3-ubyte", idx_images(3));
  write_bytes(mnist / "train/train-labels-idx1-ubyte", idx_labels(3));
  EXPECT_EQ(open_data(find_data(mnist.str(), "train"))->get_dataset_size(), 3);
  const DataError e = caught<DataError>([&] { find_data(mnist.str(), "eval"); });
  EXPECT_EQ(e.code(), ErrorCode::kDataMissing);
  for (const char* part : {"validation_preprocess", "ilsvrc_eval", "found: train"}) EXPECT_NE(e.message().find(part), std::string::npos) << e.what();
}

}  // namespace
}  // namespace sindri::dataset
