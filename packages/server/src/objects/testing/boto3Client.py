"""What people do with boto3 in the bucket of the environment: `objects`, or 10,000 of them by `pages`. Prints OK at the end."""

import io
import os
import sys
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

MIB = 1024 * 1024
bucket = os.environ["BUCKET"]
s3 = boto3.client("s3", endpoint_url=os.environ["ENDPOINT"], config=Config(signature_version="s3v4"))



def objects():
    names = ["with space", "plus+plus", "per%cent%20", "юникод-文件-🙂", "a/b//c", "../up", "k" * 1024, "<&\"'>"]
    for name in names:
        s3.put_object(Bucket=bucket, Key="names/" + name if len(name) < 1000 else name, Body=name.encode())
    listed = [item["Key"] for item in s3.list_objects_v2(Bucket=bucket)["Contents"]]
    assert sorted(listed) == sorted("names/" + n if len(n) < 1000 else n for n in names), listed
    for key in listed:
        body = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
        assert body == key.removeprefix("names/"), key

    large = os.urandom(12 * MIB)
    parts = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    extra = {"Metadata": {"mood": "good"}, "ContentType": "text/x-large"}
    s3.upload_fileobj(io.BytesIO(large), bucket, "large", Config=parts, ExtraArgs=extra)
    head = s3.head_object(Bucket=bucket, Key="large")
    assert head["ContentLength"] == len(large) and head["ETag"].endswith('-3"'), head
    assert head["Metadata"] == {"mood": "good"} and head["ContentType"] == "text/x-large", head
    assert s3.get_object(Bucket=bucket, Key="large", Range="bytes=5242870-5242890")["Body"].read() == large[5242870:5242891]
    into = io.BytesIO()
    s3.download_fileobj(bucket, "large", into, Config=parts)
    assert into.getvalue() == large

    s3.copy({"Bucket": bucket, "Key": "large"}, bucket, "copies/a+b c", Config=parts)
    assert s3.get_object(Bucket=bucket, Key="copies/a+b c")["Body"].read() == large
    s3.copy_object(Bucket=bucket, Key="copies/small", CopySource={"Bucket": bucket, "Key": "names/юникод-文件-🙂"})
    assert s3.get_object(Bucket=bucket, Key="copies/small")["Body"].read().decode() == "юникод-文件-🙂"

    params = {"Bucket": bucket, "Key": "names/plus+plus"}
    url = s3.generate_presigned_url("get_object", Params=params, ExpiresIn=60)
    assert urllib.request.urlopen(url).read() == b"plus+plus"
    url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "presigned ü"}, ExpiresIn=60)
    urllib.request.urlopen(urllib.request.Request(url, data=b"by url", method="PUT"))
    assert s3.get_object(Bucket=bucket, Key="presigned ü")["Body"].read() == b"by url"

    tags = [{"Key": "longer", "Value": "v w"}, {"Key": "b", "Value": "2"}, {"Key": "a", "Value": ""}]
    s3.put_object_tagging(Bucket=bucket, Key="large", Tagging={"TagSet": tags})
    assert s3.get_object_tagging(Bucket=bucket, Key="large")["TagSet"] == tags
    page = s3.list_objects_v2(Bucket=bucket, ContinuationToken="")
    assert page["ContinuationToken"] == "", page

    keys = [item["Key"] for item in s3.list_objects_v2(Bucket=bucket)["Contents"]]
    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]})
    assert len(deleted["Deleted"]) == len(keys)


def by_pages():
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 777})
    many = [item["Key"] for page in pages for item in page["Contents"]]
    assert len(many) == 10000 and many == sorted(many), len(many)
    for at in range(0, len(many), 1000):
        gone = {"Objects": [{"Key": key} for key in many[at : at + 1000]], "Quiet": True}
        assert "Errors" not in s3.delete_objects(Bucket=bucket, Delete=gone)
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


{"objects": objects, "pages": by_pages}[sys.argv[1]]()
print("OK")
